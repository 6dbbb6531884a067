import { NotificationOutboxItem } from "@tocsin/core/contract/NotificationOutboxItem"
import { Schema } from "effect"

/** An outbox item of any notifier: those of a host's own have names that the contract's filters do not know. */
export const OutboxItem = Schema.Struct({ ...NotificationOutboxItem.fields, notifier: Schema.String })
