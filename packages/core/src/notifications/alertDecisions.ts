import { Duration } from "effect"
import * as Instant from "../contract/Instant.ts"
import type { Command, Decision } from "../workspace/Decision.ts"
import { ensure } from "../workspace/ensure.ts"
import type { Workspace } from "../workspace/Workspace.ts"
import type { AlertRecord } from "./AlertRecord.ts"
import { incidentFacts } from "./incidentFacts.ts"
import type { Notification } from "./Notification.ts"
import type { OutboxRecord } from "./OutboxRecord.ts"

/** A firing alert is sent again so often, because the router forgets what is not repeated (decisions §9). */
export const RESEND_EVERY = Duration.seconds(60)
/** An ended alert is sent again for so long. */
const RESEND_ENDED_FOR = Duration.minutes(5)

/** A label set to be sent again, held by this process until its lease ends. */
export interface ClaimedAlert {
  readonly alert: AlertRecord
  readonly incident: Notification["incident"]
}

/**
 * Notes that the alert router was told of an incident at a severity, so that it is told again until the incident ends or
 * has another severity. The alert of an incident that has ended meanwhile is ended at once.
 */
export function* recordDelivered(workspace: Workspace, item: OutboxRecord, now: Instant.Instant): Decision<void> {
  if (item.notifier !== "alert_router" || item.event_type !== "firing") return
  yield* ensure(workspace, { incidents: [item.incident_id] })
  const incident = workspace.incidents.get(item.incident_id)
  if (incident === undefined) return
  const isCurrent = incident.state === "open" && incident.severity === item.severity
  workspace.alerts.put({
    incident_id: item.incident_id,
    severity: item.severity,
    next_at: isCurrent ? Instant.plus(now, RESEND_EVERY) : now,
    ended_at: isCurrent ? undefined : (incident.resolved_at ?? now),
    leased_until: undefined,
  })
  if (incident.state === "open" && !isCurrent) sendCurrent(workspace, incident.severity, item, now)
}

/** A severity that was told once is not enqueued again, but its label set has to be at the router while it counts. */
const sendCurrent = (
  workspace: Workspace,
  severity: AlertRecord["severity"],
  item: OutboxRecord,
  now: Instant.Instant,
): void => {
  const current = workspace.alerts.group(item.incident_id).find((alert) => alert.severity === severity)
  if (current !== undefined && current.ended_at === undefined) return
  workspace.alerts.put({
    incident_id: item.incident_id,
    severity,
    next_at: now,
    ended_at: undefined,
    leased_until: undefined,
  })
}

/** Claims alerts that are to be sent again. */
export const claimAlerts =
  (input: { readonly limit: number; readonly lease: Duration.Duration }): Command<ReadonlyArray<ClaimedAlert>> =>
  (workspace) =>
    (function* () {
      yield { claimableAlerts: { limit: input.limit } }
      const { claimableAlerts, storageTime } = workspace.found
      if (storageTime === undefined) throw new Error("the storage did not tell its time")
      const leased_until = Instant.plus(storageTime, input.lease)
      return claimableAlerts.map(({ row, incident }) => {
        const alert = { ...row, leased_until }
        workspace.alerts.put(alert)
        return { alert, incident: incidentFacts(incident) }
      })
    })()

/** Ends such a claim: due again in a minute, or gone once it was sent as ended for long enough. */
export const settleAlert =
  (claimed: AlertRecord): Command<void> =>
  (workspace, now) =>
    (function* () {
      yield* ensure(workspace, { alerts: [claimed] })
      const alert = workspace.alerts.get(claimed)
      if (alert === undefined || alert.leased_until !== claimed.leased_until) return
      const isOver = claimed.ended_at !== undefined && now >= Instant.plus(claimed.ended_at, RESEND_ENDED_FOR)
      if (isOver) workspace.alerts.delete(claimed)
      else {
        // One that ended while it was being sent as firing is due at once.
        const next_at = alert.ended_at === claimed.ended_at ? Instant.plus(now, RESEND_EVERY) : now
        workspace.alerts.put({ ...alert, next_at, leased_until: undefined })
      }
    })()
