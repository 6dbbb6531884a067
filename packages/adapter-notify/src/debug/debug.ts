import { NotificationType, Severity } from "@tocsin/contract/formats/Status"
import * as Instant from "@tocsin/contract/formats/Instant"
import { timestamp } from "@tocsin/contract/formats/Fields"
import type { DeliveryAttempt, DeliveryResult, Notifier } from "@tocsin/core/heart/notifications/Notifiers"
import { Effect, Schema } from "effect"
import { logTogether } from "@tocsin/core/kernel/engine/logTogether"
import { testText } from "@tocsin/core/heart/notifications/incidentText"
import { plainLine } from "@tocsin/contract/formats/plainLine"

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

const delivered: DeliveryResult = { outcome: "delivered" }

/** Written field by field: encoding by the schema takes two and a half times as long. */
const lineOf = ({ incident, ...notification }: DeliveryAttempt): typeof DebugNotification.Encoded => ({
  version: 1,
  notification_id: notification.id,
  event_type: notification.event_type,
  severity: notification.severity,
  incident_id: incident.id,
  // A terminal that shows the log would act on escape sequences of a check's output.
  incident_key: plainLine(incident.incident_key),
  ...(incident.agent_id !== undefined && { agent_id: incident.agent_id }),
  ...(incident.check_id !== undefined && { check_id: incident.check_id }),
  opened_at: Instant.format(incident.opened_at),
  ...(incident.resolved_at !== undefined && { resolved_at: Instant.format(incident.resolved_at) }),
  members: incident.members,
  ...(notification.summary !== undefined && { summary: plainLine(notification.summary) }),
  attempt: notification.attempt,
})

const log = (notification: DeliveryAttempt): Effect.Effect<void> =>
  Effect.annotateLogs(Effect.logInfo("notification"), lineOf(notification))

/** Logs one structured line at info instead of notifying (docs/rules.md#notifiers). */
export const debug: Notifier = {
  kind: "debug",
  send: (notification) => Effect.as(log(notification), delivered),
  sendAll: (notifications) =>
    Effect.as(logTogether(Effect.forEach(notifications, log, { discard: true })), delivered),
  test: Effect.as(Effect.logInfo(testText()), { result: delivered, status: undefined }),
}
