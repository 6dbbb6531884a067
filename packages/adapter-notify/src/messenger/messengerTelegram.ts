import type { Notifier } from "@tocsin/core/ports/Notifiers"
import { Effect, Redacted, Schema, type Scope } from "effect"
import { BadNotifierSetting } from "../BadNotifierSetting.ts"
import { makeHttpPost, type PostingOptions } from "../http/HttpPost.ts"
import { incidentText } from "../text/incidentText.ts"
import { testText } from "../text/testText.ts"
import { TelegramMessage, telegramMedium, telegramRetryAfter } from "./TelegramMessage.ts"

/** What a Telegram messenger needs to know. */
export interface MessengerTelegramOptions extends PostingOptions {
  /** Of the bot, as BotFather gave it. */
  readonly token: Redacted.Redacted
  /** Id of a chat, or `@name` of a public channel. */
  readonly chat: string
  /** Base address of the Bot API; that of Telegram unless one runs its own server. */
  readonly apiUrl?: Redacted.Redacted | undefined
}

const TELEGRAM = Redacted.make("https://api.telegram.org")
const VISIBLE_ASCII = /^[\x21-\x7e]+$/

const encode = Schema.encodeSync(Schema.fromJsonString(TelegramMessage))

const bad = (setting: BadNotifierSetting["setting"]) => (message: string) =>
  new BadNotifierSetting({ notifier: "messenger", setting, message })

/** Writes to a chat as a Telegram bot (docs/rules.md#notifiers). */
export const messengerTelegram = Effect.fnUntraced(function* (
  options: MessengerTelegramOptions,
): Effect.fn.Return<Notifier, BadNotifierSetting, Scope.Scope> {
  const token = Redacted.value(options.token)
  if (!VISIBLE_ASCII.test(token))
    return yield* bad("token")("must be the token that BotFather gave, without spaces")
  if (!VISIBLE_ASCII.test(options.chat))
    return yield* bad("chat")("must be the id of a chat, or @ and the name of a channel")
  const post = yield* makeHttpPost({
    ...options,
    notifier: "messenger",
    setting: "apiUrl",
    address: options.apiUrl ?? TELEGRAM,
    path: `/bot${encodeURIComponent(token).replaceAll("%3A", ":")}/sendMessage`,
    retryAfterOf: telegramRetryAfter,
  })
  const write = (text: string) =>
    post(encode({ chat_id: options.chat, text, link_preview_options: { is_disabled: true } }))
  return {
    kind: "messenger",
    send: (notification) =>
      Effect.map(write(incidentText(notification, telegramMedium)), ({ result }) => result),
    test: write(testText),
  }
})
