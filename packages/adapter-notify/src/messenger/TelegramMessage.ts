import { Option, Schema } from "effect"
import type { TextMedium } from "../text/incidentText.ts"

/** How Telegram takes plain text: at most 4096 characters, nothing to escape (docs/rules.md#notifiers). */
export const telegramMedium: TextMedium = { limit: 4_096, escape: (text) => text }

/** The body of Telegram's sendMessage; the format is Telegram's. Without parse_mode, so that no character has a meaning. */
export const TelegramMessage = Schema.Struct({
  chat_id: Schema.NonEmptyString,
  text: Schema.NonEmptyString.check(Schema.isMaxLength(telegramMedium.limit)),
  link_preview_options: Schema.Struct({ is_disabled: Schema.Literal(true) }),
})

const TelegramRefusal = Schema.fromJsonString(
  Schema.Struct({
    parameters: Schema.Struct({ retry_after: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)) }),
  }),
)

/** How many seconds Telegram asks to wait, if its answer says so (docs/rules.md#notifiers). */
export const telegramRetryAfter = (body: string): number | undefined =>
  Option.getOrUndefined(Schema.decodeOption(TelegramRefusal)(body))?.parameters.retry_after
