import { secondsAt, type Service } from "./Service.ts"

/** Also `:`, which keeps addresses from becoming links. */
const MARKDOWN = /[\\`*_~|>#\-[\]()<:@]/g

const SUPPRESS_EMBEDS = 4

/** An incoming webhook; 2,000 characters (docs.discord.com, "Execute Webhook" and "Rate Limits", August 2026). */
export const discord: Service = {
  limit: 2_000,
  escape: (text) => text.replace(MARKDOWN, String.raw`\$&`),
  retryAfterOf: secondsAt("retry_after"),
  request: ({ text }) => ({
    body: { content: text, allowed_mentions: { parse: [] }, flags: SUPPRESS_EMBEDS },
  }),
}
