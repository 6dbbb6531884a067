import { Schema } from "effect"
import type { TextMedium } from "../text/incidentText.ts"

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" }

/** How Slack takes text: at most 3000 characters, `&<>` escaped, so that nothing becomes a link or a mention (decisions §9). */
export const slackMedium: TextMedium = {
  limit: 3_000,
  escape: (text) => text.replace(/[&<>]/g, (character) => ENTITIES[character] ?? character),
}

/** The body of a Slack-compatible incoming webhook; the format is Slack's. */
export const SlackMessage = Schema.Struct({
  text: Schema.NonEmptyString.check(Schema.isMaxLength(slackMedium.limit)),
})
