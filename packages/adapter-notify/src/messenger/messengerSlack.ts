import type { Notifier } from "@tocsin/core/ports/Notifiers"
import { Effect, type Redacted, Schema, type Scope } from "effect"
import type { BadNotifierSetting } from "../BadNotifierSetting.ts"
import { makeHttpPost, type PostingOptions } from "../http/HttpPost.ts"
import type { TextMedium } from "../text/incidentText.ts"
import { messenger } from "./messenger.ts"

export interface MessengerSlackOptions extends PostingOptions {
  /** The incoming webhook; its path is the credential. */
  readonly url: Redacted.Redacted
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" }

/**
 * The start of a mention in Mattermost and Rocket.Chat: `@channel`, `@alice`, and, since Mattermost passes
 * over `_` before it, `_@all`.
 */
const MENTION = /(?<![a-zA-Z0-9])@(?=\w)/g
/** Invisible, and ends the mention. */
const ZERO_WIDTH_SPACE = "\u200b"

/** Slack's limit, and escapes that prevent mentions, and links whose text hides their address. */
export const slackMedium: TextMedium = {
  limit: 3_000,
  escape: (text) =>
    text
      .replace(/[&<>]/g, (character) => ENTITIES[character] ?? character)
      .replace(MENTION, `@${ZERO_WIDTH_SPACE}`),
}

/** The body of an incoming webhook, in Slack's format. */
export const SlackMessage = Schema.Struct({
  text: Schema.NonEmptyString.check(Schema.isMaxLength(slackMedium.limit)),
})

const encode = Schema.encodeSync(Schema.fromJsonString(SlackMessage))

/** Writes to a channel through a Slack-compatible incoming webhook (docs/rules.md#notifiers). */
export const messengerSlack = Effect.fnUntraced(function* (
  options: MessengerSlackOptions,
): Effect.fn.Return<Notifier, BadNotifierSetting, Scope.Scope> {
  const post = yield* makeHttpPost({
    ...options,
    notifier: "messenger",
    setting: "url",
    address: options.url,
  })
  return messenger(slackMedium, (text) => post(encode({ text })))
})
