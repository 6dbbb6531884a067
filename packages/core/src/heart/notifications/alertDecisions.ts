import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import {
  commandOf,
  type Decision,
  load,
  loneCommandOf,
  type LoneDecision,
} from "../../kernel/unitOfWork/Decision.ts"
import { find, type WithIncident } from "../../kernel/unitOfWork/Search.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { type FiringOptions, readRunbooks, WITHOUT_POLICY } from "../firings/gatherFacts.ts"
import { type ClaimedAlert, incidentFacts } from "./Notifiers.ts"
import { type AlertRecord, type AlertRef, isDropped, type OutboxRecord } from "../model/OutboxRecord.ts"

/**
 * Ends the alerts of a resolved incident, or those of another severity while it is open, and starts
 * the alert of its present severity (docs/rules.md#alertmanager). Concerns only receivers that have
 * got an alert of it.
 */
export const endAlerts = (unit: UnitOfWork, incident: IncidentRecord, now: Instant.Instant): void => {
  const sent = unit.alerts.group(incident.id)
  if (sent.length === 0) return
  for (const receiver of new Set(sent.map((alert) => alert.receiver))) {
    const firing = sent.filter((alert) => alert.receiver === receiver && alert.ended_at === undefined)
    const isCurrent = (alert: AlertRecord) =>
      incident.state === "open" && alert.severity === incident.severity
    if (firing.every(isCurrent)) continue
    for (const alert of firing)
      if (!isCurrent(alert)) unit.alerts.put({ ...alert, ended_at: now, next_at: now })
    if (incident.state === "open" && !firing.some(isCurrent))
      startAlert(unit, { receiver, incident_id: incident.id, severity: incident.severity }, now)
  }
}

/**
 * Sends an alert from `next_at` on. A claim that holds it stays valid: its post arrives first, and
 * the end of the claim sees that it is outdated.
 */
const startAlert = (unit: UnitOfWork, ref: AlertRef, next_at: Instant.Instant): void => {
  const { leased_until } = alertOf(unit, ref) ?? {}
  unit.alerts.put({ ...ref, next_at, ended_at: undefined, leased_until })
}

const alertOf = (unit: UnitOfWork, ref: AlertRef): AlertRecord | undefined =>
  unit.alerts
    .group(ref.incident_id)
    .find(({ receiver, severity }) => receiver === ref.receiver && severity === ref.severity)

/** Firing alerts are sent again this often: the router forgets others (docs/rules.md#alertmanager). */
export const RESEND_EVERY = Duration.seconds(60)
const RESEND_ENDED_FOR = Duration.minutes(5)

/**
 * After the router has received an alert, repeats it until the incident resolves or changes its
 * severity. If that has already happened, ends this alert and starts that of the present severity:
 * an old severity is not enqueued again, but its alert must be at the router while it counts.
 */
export function* recordDelivered(unit: UnitOfWork, item: OutboxRecord, now: Instant.Instant): Decision<void> {
  if (item.notifier !== "alert_router") return
  if (item.event_type !== "firing") return yield* fireAgain(unit, item, now)
  yield* load(unit, { incidents: [item.incident_id] })
  const incident = unit.incidents.get(item.incident_id)
  if (incident === undefined) return
  const { incident_id, receiver } = item
  const present: AlertRef = { receiver, incident_id, severity: incident.severity }
  if (incident.state === "open" && incident.severity === item.severity) {
    const alert = alertOf(unit, present)
    const next_at = Instant.plus(now, RESEND_EVERY)
    startAlert(unit, present, isFiringAlert(alert) ? Instant.min(alert.next_at, next_at) : next_at)
    return
  }
  const former: AlertRef = { receiver, incident_id, severity: item.severity }
  unit.alerts.put({
    ...former,
    next_at: now,
    ended_at: incident.resolved_at ?? now,
    leased_until: alertOf(unit, former)?.leased_until,
  })
  const isFiring = isFiringAlert(alertOf(unit, present))
  if (incident.state === "open" && !isFiring) startAlert(unit, present, now)
}

const isFiringAlert = (alert: AlertRecord | undefined): alert is AlertRecord =>
  alert !== undefined && alert.ended_at === undefined

/**
 * The step of a due alert whose receiver keeps alerts until they are sent as ended: its notifications
 * are all that it needs, but for a silent resolution.
 */
function* remember(
  unit: UnitOfWork,
  { row, incident }: WithIncident<AlertRecord>,
): Decision<"wait" | "delete" | "end"> {
  if (incident.state === "open") return row.ended_at === undefined ? "wait" : "delete"
  yield* load(unit, { incidents: [incident.id] })
  // A receiver that was away for a day was sent none that was discarded.
  const isEnd = (item: OutboxRecord) =>
    item.event_type === "resolved" && item.receiver === row.receiver && !isDropped(item)
  return unit.outbox.group(incident.id).some(isEnd) ? "delete" : "end"
}

/** Claims alerts of a receiver that are due to be sent again. */
export const claimAlerts = loneCommandOf(function* (
  unit,
  input: {
    readonly receiver: NotifierName
    readonly limit: number
    readonly lease: Duration.Duration
    /** The receiver keeps alerts until they are sent as ended. */
    readonly remembers?: boolean | undefined
    readonly policy?: FiringOptions["policy"]
  },
): LoneDecision<ReadonlyArray<ClaimedAlert>> {
  const { limit, receiver } = input
  const { due, storageTime } = yield* find("claimableAlerts", { receiver, limit })
  const leased_until = Instant.plus(storageTime, input.lease)
  const incidents = due.map(({ incident }) => incident)
  const { policy = WITHOUT_POLICY.policy } = input
  const runbookOf = yield* readRunbooks(unit, incidents, policy())
  const claimed: Array<ClaimedAlert> = []
  for (const found of due) {
    const { incident, row } = found
    const step = input.remembers === true ? yield* remember(unit, found) : yield* repeat(unit, found)
    const isSent = claimed.some(({ alert }) => alert.incident_id === row.incident_id)
    // Each end is a separate attempt, and the others stay due: one that hangs would hold all of them.
    if (step === "end" && !isSent && claimed.length > 0) continue
    if (step === "wait") unit.alerts.put({ ...row, next_at: Instant.LATEST })
    else if (step === "delete" || (step === "end" && isSent)) unit.alerts.delete(row)
    else {
      const alert = { ...row, leased_until }
      unit.alerts.put(alert)
      const isLast = step === "end" && { isLast: true as const }
      claimed.push({ alert, incident: incidentFacts(incident), runbook: runbookOf(incident), ...isLast })
    }
  }
  return claimed
})

/**
 * The step of a due alert whose receiver forgets it unless it repeats. Once a later incident fires with the
 * same labels, the end of this one would end that: to the receiver, the two are one.
 */
function* repeat(
  unit: UnitOfWork,
  { row, incident }: WithIncident<AlertRecord>,
): Decision<"repeat" | "delete"> {
  if (row.ended_at === undefined) return "repeat"
  const later = yield* laterIncident(unit, incident)
  const isOutdone = later !== undefined && isFiringAlert(alertOf(unit, { ...row, incident_id: later.id }))
  return isOutdone ? "delete" : "repeat"
}

/** The open incident whose alerts have the same labels as those of a resolved one. */
function* laterIncident(unit: UnitOfWork, incident: IncidentRecord): Decision<IncidentRecord | undefined> {
  if (incident.state === "open") return undefined
  const ref = { kind: incident.kind, incident_key: incident.incident_key }
  yield* load(unit, { openIncidents: [ref] })
  const open = unit.openIncident(ref)
  const isAlike =
    open?.opener_agent_id === incident.opener_agent_id && open.opener_check_id === incident.opener_check_id
  return isAlike ? open : undefined
}

/**
 * After an alert was sent as ended: sends that of a later incident with the same labels again, which
 * has ended with it where it arrived before. That may be so already while its first attempt is under way.
 */
function* fireAgain(unit: UnitOfWork, ended: AlertRef, now: Instant.Instant): Decision<void> {
  const { incident_id, receiver, severity } = ended
  yield* load(unit, { incidents: [incident_id] })
  const incident = unit.incidents.get(incident_id)
  const open = incident && (yield* laterIncident(unit, incident))
  if (open?.severity !== severity) return
  const present: AlertRef = { receiver, incident_id: open.id, severity }
  const isUnderWay = unit.outbox
    .group(open.id)
    .some((item) => item.receiver === receiver && item.severity === severity && item.state === "sending")
  if (isUnderWay || isFiringAlert(alertOf(unit, present))) startAlert(unit, present, now)
}

/**
 * Ends a claim after its post: due again in a minute, or deleted once it has been sent as ended for
 * long enough, at once by a receiver that keeps alerts.
 */
export const recordAlertResult = commandOf(function* (
  unit,
  { alert: claimed, isLast }: Pick<ClaimedAlert, "alert" | "isLast">,
): Decision<void> {
  if (claimed.ended_at !== undefined && isLast !== true) yield* fireAgain(unit, claimed, unit.now)
  const alert = yield* heldAlert(unit, claimed)
  if (alert === undefined) return
  // Due immediately if it has ended, or fires again, since it was claimed.
  const isOutdated = alert.ended_at !== claimed.ended_at || alert.next_at !== claimed.next_at
  const isOver =
    isLast === true ||
    (alert.ended_at !== undefined && unit.now >= Instant.plus(alert.ended_at, RESEND_ENDED_FOR))
  if (isOver && !isOutdated) unit.alerts.delete(alert)
  else {
    const next_at = isOutdated ? alert.next_at : Instant.plus(unit.now, RESEND_EVERY)
    unit.alerts.put({ ...alert, next_at, leased_until: undefined })
  }
})

/** Releases a claim because the service stops, for another replica. */
export const releaseAlert = commandOf(function* (unit, claimed: AlertRecord): Decision<void> {
  const alert = yield* heldAlert(unit, claimed)
  if (alert !== undefined) unit.alerts.put({ ...alert, leased_until: undefined })
})

/** The alert of a claim, unless another claim has it. */
function* heldAlert(unit: UnitOfWork, claimed: AlertRecord): Decision<AlertRecord | undefined> {
  yield* load(unit, { rows: { alert: [claimed] } })
  const alert = unit.alerts.get(claimed)
  return alert?.leased_until === claimed.leased_until ? alert : undefined
}
