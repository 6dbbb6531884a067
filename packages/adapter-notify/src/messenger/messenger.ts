import type { Language } from "@tocsin/contract/languages/Language"
import type { Notifier, TestReceipt } from "@tocsin/core/heart/notifications/Notifiers"
import { Effect, Redacted, type Scope } from "effect"
import { BadNotifierSetting, makeHttpPost, type PostingOptions } from "../http/HttpPost.ts"
import { secondsAt } from "../services/Service.ts"
import { plain, type TextMedium } from "@tocsin/core/heart/notifications/cutText"
import { digestText } from "@tocsin/core/heart/notifications/digestText"
import { incidentText, testText } from "@tocsin/core/heart/notifications/incidentText"
import type { Reader } from "@tocsin/core/heart/notifications/readerTexts"

/** A notifier that writes texts fitted to a medium. */
const messenger = (
  medium: TextMedium,
  reader: Reader,
  write: (text: string) => Effect.Effect<TestReceipt>,
): Notifier => {
  const deliver = (text: string) => Effect.map(write(text), ({ result }) => result)
  return {
    kind: "messenger",
    takesDetails: true,
    send: (notification) => deliver(incidentText(notification, medium)),
    sendDigest: (notifications) => deliver(digestText(notifications, medium)),
    test: write(testText(reader)),
  }
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" }

/**
 * The start of a mention in Mattermost and Rocket.Chat: `@channel`, `@alice`, and, since Mattermost passes
 * over `_` before it, `_@all`.
 */
const MENTION = /(?<![a-zA-Z0-9])@(?=\w)/g
/** Invisible, and ends the mention. */
const ZERO_WIDTH_SPACE = "\u200b"

/**
 * At most 3,000 characters: Slack cuts a text at 40,000, advised to stay below 4,000 (api.slack.com, "Truncating
 * really long messages", November 2026), and shows up to 3,000 in one block. The escapes prevent mentions, and
 * links whose text hides their address.
 */
export const slackMedium: TextMedium = {
  limit: 3_000,
  quote: "&gt; ",
  escape: (text) =>
    text
      .replace(/[&<>]/g, (character) => ENTITIES[character] ?? character)
      .replace(MENTION, `@${ZERO_WIDTH_SPACE}`),
}

/** Writes to a channel through a Slack-compatible incoming webhook (docs/rules.md#notifiers). */
export const messengerSlack = Effect.fnUntraced(function* (
  options: PostingOptions & {
    /** The incoming webhook; its path is the credential. */
    readonly url: Redacted.Redacted
    readonly lang?: Language | undefined
  },
): Effect.fn.Return<Notifier, BadNotifierSetting, Scope.Scope> {
  const post = yield* makeHttpPost({ ...options, address: options.url })
  return messenger(slackMedium, options, (text) => post(JSON.stringify({ text })))
})

const TELEGRAM = Redacted.make("https://api.telegram.org")
const VISIBLE_ASCII = /^[\x21-\x7e]+$/

/** 4,096 characters (core.telegram.org/bots/api, "sendMessage" and "ResponseParameters", November 2026); plain text needs no escapes. */
export const telegramMedium: TextMedium = { limit: 4_096, escape: plain }

const bad = (setting: BadNotifierSetting["setting"]) => (message: string) =>
  new BadNotifierSetting({ setting, message })

/** Writes to a chat as a Telegram bot (docs/rules.md#notifiers). */
export const messengerTelegram = Effect.fnUntraced(function* (
  options: PostingOptions & {
    /** The bot's token from BotFather. */
    readonly token: Redacted.Redacted
    /** ID of a chat, or `@name` of a public channel. */
    readonly chat: string
    readonly lang?: Language | undefined
    /** Base address of the Bot API; Telegram's unless you run your own server. */
    readonly apiUrl?: Redacted.Redacted | undefined
  },
): Effect.fn.Return<Notifier, BadNotifierSetting, Scope.Scope> {
  const token = Redacted.value(options.token)
  if (!VISIBLE_ASCII.test(token))
    return yield* bad("token")("must be the token that BotFather gave, without spaces")
  if (!VISIBLE_ASCII.test(options.chat))
    return yield* bad("chat")("must be the id of a chat, or @ and the name of a channel")
  const post = yield* makeHttpPost({
    ...options,
    setting: "apiUrl",
    address: options.apiUrl ?? TELEGRAM,
    path: `/bot${encodeURIComponent(token).replaceAll("%3A", ":")}/sendMessage`,
    retryAfterOf: secondsAt("retry_after"),
  })
  return messenger(telegramMedium, options, (text) =>
    // Without parse_mode, no character has a meaning.
    post(JSON.stringify({ chat_id: options.chat, text, link_preview_options: { is_disabled: true } })),
  )
})
