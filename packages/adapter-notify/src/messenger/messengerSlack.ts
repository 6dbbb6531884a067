import type { Notifier } from "@tocsin/core/ports/Notifiers"
import { Effect, type Redacted, Schema, type Scope } from "effect"
import type { BadNotifierSetting } from "../BadNotifierSetting.ts"
import { makeHttpPost, type PostingOptions } from "../http/HttpPost.ts"
import { incidentText } from "../text/incidentText.ts"
import { testText } from "../text/testText.ts"
import { SlackMessage, slackMedium } from "./SlackMessage.ts"

/** What a Slack-compatible messenger needs to know. */
export interface MessengerSlackOptions extends PostingOptions {
  /** Of the incoming webhook; its path is the credential. */
  readonly url: Redacted.Redacted
}

const encode = Schema.encodeSync(Schema.fromJsonString(SlackMessage))

/** Writes to a channel through an incoming webhook of Slack, or of what takes the same (docs/rules.md#notifiers). */
export const messengerSlack = Effect.fnUntraced(function* (
  options: MessengerSlackOptions,
): Effect.fn.Return<Notifier, BadNotifierSetting, Scope.Scope> {
  const post = yield* makeHttpPost({
    ...options,
    notifier: "messenger",
    setting: "url",
    address: options.url,
  })
  return {
    kind: "messenger",
    send: (notification) =>
      Effect.map(post(encode({ text: incidentText(notification, slackMedium) })), ({ result }) => result),
    test: post(encode({ text: testText })),
  }
})
