import { timestamp } from "@tocsin/core/contract/Fields"
import { Schema } from "effect"

/** One alert as Alertmanager's v2 API takes it (postableAlert); the format is Alertmanager's. */
export const Alert = Schema.Struct({
  labels: Schema.Record(Schema.String, Schema.String),
  annotations: Schema.Record(Schema.String, Schema.String),
  startsAt: timestamp("When it began to fire."),
  endsAt: timestamp("When it counts as resolved unless it is sent again before."),
})
export type Alert = typeof Alert.Type
