import type { DeliveryAttempt } from "@tocsin/core/notifications/DeliveryAttempt"
import type { DeliveryResult, Notifier } from "@tocsin/core/ports/Notifiers"
import { Effect, Schema } from "effect"
import { plainLine } from "../text/plainLine.ts"
import { testText } from "../text/testText.ts"
import { DebugNotification } from "./DebugNotification.ts"

const encode = Schema.encodeSync(DebugNotification)

const delivered: DeliveryResult = { outcome: "delivered" }

const lineOf = ({ incident, ...notification }: DeliveryAttempt) =>
  encode({
    version: 1,
    notification_id: notification.id,
    event_type: notification.event_type,
    severity: notification.severity,
    incident_id: incident.id,
    // Logs are read on terminals too, where an escape sequence of a check's output would act.
    incident_key: plainLine(incident.incident_key),
    ...(incident.agent_id !== undefined && { agent_id: incident.agent_id }),
    ...(incident.check_id !== undefined && { check_id: incident.check_id }),
    opened_at: incident.opened_at,
    ...(incident.resolved_at !== undefined && { resolved_at: incident.resolved_at }),
    members: incident.members,
    ...(notification.summary !== undefined && { summary: plainLine(notification.summary) }),
    attempt: notification.attempt,
  })

/** Logs one structured line at info (docs/rules.md#notifiers): what would have been sent, on a server that tells nobody yet. */
export const debug: Notifier = {
  kind: "debug",
  send: (notification) =>
    Effect.logInfo("notification").pipe(Effect.annotateLogs(lineOf(notification)), Effect.as(delivered)),
  test: Effect.as(Effect.logInfo(testText), { result: delivered, status: undefined }),
}
