import { NotificationType, Severity } from "@tocsin/core/contract/Status"
import { timestamp } from "@tocsin/core/contract/Fields"
import { Schema } from "effect"

/** The fields of the line that the debug notifier logs, version 1. */
export const DebugNotification = Schema.Struct({
  version: Schema.Literal(1),
  notification_id: Schema.String,
  event_type: NotificationType,
  severity: Severity,
  incident_id: Schema.String,
  incident_key: Schema.String,
  agent_id: Schema.optionalKey(Schema.String),
  check_id: Schema.optionalKey(Schema.String),
  opened_at: timestamp("When the incident's first member turned not ok."),
  resolved_at: Schema.optionalKey(timestamp("When no member was left; absent while it is open.")),
  members: Schema.Int,
  summary: Schema.optionalKey(Schema.String),
  attempt: Schema.Int,
})
