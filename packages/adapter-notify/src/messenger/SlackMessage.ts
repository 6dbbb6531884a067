import { Schema } from "effect"
import type { TextMedium } from "../text/incidentText.ts"

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" }

/** What begins a mention where `@` is enough for one, as in Mattermost and Rocket.Chat: `@channel`, `@all`, `@alice`. */
const MENTION = /(?<!\w)@(?=\w)/g
/** Takes no room, and what follows is no name any more. */
const ZERO_WIDTH_SPACE = "\u200b"

/** How Slack takes text, at most 3000 characters. It is escaped so that nothing becomes a link or a mention. */
export const slackMedium: TextMedium = {
  limit: 3_000,
  escape: (text) =>
    text
      .replace(/[&<>]/g, (character) => ENTITIES[character] ?? character)
      .replace(MENTION, `@${ZERO_WIDTH_SPACE}`),
}

/** The body of a Slack-compatible incoming webhook; the format is Slack's. */
export const SlackMessage = Schema.Struct({
  text: Schema.NonEmptyString.check(Schema.isMaxLength(slackMedium.limit)),
})
