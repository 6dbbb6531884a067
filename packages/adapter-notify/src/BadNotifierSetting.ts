import { NotifierKind } from "@tocsin/contract/Status"
import { Schema } from "effect"

/**
 * A setting of a notifier is invalid. `message` completes a sentence that begins with the setting's
 * name ("… must be …"), without its value.
 */
export class BadNotifierSetting extends Schema.TaggedError<BadNotifierSetting>()("BadNotifierSetting", {
  notifier: NotifierKind,
  setting: Schema.Literals(["url", "secrets", "token", "chat", "apiUrl", "user", "key", "routing_key"]),
  message: Schema.String,
}) {}
