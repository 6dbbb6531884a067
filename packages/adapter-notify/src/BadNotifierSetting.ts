import { NotifierKind } from "@tocsin/core/contract/Status"
import { Schema } from "effect"

/**
 * A notifier cannot be made of what it was given. `message` completes a sentence that begins with the setting's name
 * ("… must be …") and never repeats what the setting holds.
 */
export class BadNotifierSetting extends Schema.TaggedError<BadNotifierSetting>()("BadNotifierSetting", {
  notifier: NotifierKind,
  setting: Schema.Literals(["url", "secrets", "token", "chat", "apiUrl"]),
  message: Schema.String,
}) {}
