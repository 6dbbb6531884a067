import { defused, type Service, secondsAt } from "./Service.ts"
import { plain } from "@tocsin/core/notifications/incidentText"

const ofText = (limit: number): Service => ({
  limit,
  escape: defused,
  request: ({ text }) => ({ body: { text } }),
})

/** An incoming webhook; at most 32,000 bytes (developers.google.com, "spaces.messages.create"). */
export const googleChat: Service = ofText(8_000)

/** An incoming webhook; 16,383 characters (docs.mattermost.com, "Incoming webhooks"). */
export const mattermost: Service = ofText(16_383)

/**
 * An incoming webhook; 5,000 characters unless the server allows more (`Message_MaxAllowedSize` in
 * github.com/RocketChat/Rocket.Chat, `apps/meteor/server/settings/message.ts`).
 */
export const rocketChat: Service = ofText(5_000)

/** A message to a channel; at most 10,000 bytes (zulip.com/api/send-message). */
export const zulip: Service = {
  limit: 3_300,
  escape: defused,
  retryAfterOf: secondsAt("retry-after"),
  request: ({ text }, { path, stream, token, topic, user }) => ({
    path: `${path}/api/v1/messages`,
    headers: { authorization: `Basic ${Buffer.from(`${user}:${token}`).toString("base64")}` },
    type: "application/x-www-form-urlencoded",
    body: new URLSearchParams({ type: "stream", to: stream, topic, content: text }).toString(),
  }),
}

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

/**
 * A message to an unencrypted room. The event has at most 65,536 bytes, and an empty `m.mentions` mentions
 * no one (spec.matrix.org, client-server API, "Size limits", July 2026). Older servers send their hint in the
 * body only.
 */
export const matrix: Service = {
  limit: 8_000,
  escape: plain,
  retryAfterOf: secondsAt("retry_after_ms", 1_000),
  request: ({ id, text }, { path, room, token }) => ({
    method: "PUT",
    path: `${path}/_matrix/client/v3/rooms/${encodeURIComponent(room)}/send/m.room.message/${encodeURIComponent(id)}`,
    headers: { authorization: `Bearer ${token}` },
    body: { msgtype: "m.text", body: text, "m.mentions": {} },
  }),
}

const COLOURS = {
  critical: "attention",
  warning: "warning",
  unknown: "warning",
  resolved: "good",
  test: "default",
} as const

/**
 * A Workflows address takes an Adaptive Card, whose text runs know no Markdown; at most 28 KB, which senders saw
 * counted in UTF-16 (learn.microsoft.com, "Create an Incoming Webhook").
 */
export const teams: Service = {
  limit: 6_000,
  escape: plain,
  hasLinks: true,
  request: ({ links, text, tone }) => {
    const [title = "", ...rest] = text.split("\n")
    const block = (line: string, style: object) => ({
      type: "RichTextBlock",
      inlines: [{ type: "TextRun", text: line, ...style }],
    })
    const body = [
      block(title, { weight: "bolder", color: COLOURS[tone] }),
      ...rest.map((line) => block(line, {})),
    ]
    const content = {
      $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
      type: "AdaptiveCard",
      version: "1.4",
      body,
      ...(links.length > 0 && {
        actions: links.map((link) => ({ type: "Action.OpenUrl", title: link.title, url: link.url })),
      }),
    }
    return {
      body: {
        type: "message",
        attachments: [{ contentType: "application/vnd.microsoft.card.adaptive", content }],
      },
    }
  },
}
