import type { IncidentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import { commandOf, type Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import type { OutboxRecord } from "../model/OutboxRecord.ts"
import { clampToNow } from "../model/clampToNow.ts"

/**
 * After a clock was set back: these incidents opened by now, and their timers, holds, notifications and
 * alerts wait no longer than they were to (docs/decisions/0032).
 */
export const repairIncidents = commandOf(function* (
  unit,
  now,
  ids: ReadonlyArray<IncidentId>,
): Decision<void> {
  yield* load(unit, { incidents: ids })
  for (const id of new Set(ids)) {
    const found = unit.incidents.get(id)
    if (found === undefined) continue
    const moments = ["opened_at", "reached_warning_at", "reached_unknown_at", "reached_critical_at"] as const
    const incident = clampToNow(found, [...moments, "next_evaluation_at"], now)
    // Holds and steps count from these moments.
    if (found.state === "open") unit.incidents.put({ ...incident, next_evaluation_at: now })
    else if (incident !== found) unit.incidents.put(incident)
    for (const item of unit.outbox.group(id)) if (item.updated_at > now) unit.outbox.put(movedBack(item, now))
    repairAlerts(unit, id, now)
  }
})

/** Alerts wait a minute at most, so they are due. A post under way counts for nothing, and is repeated. */
const repairAlerts = (unit: UnitOfWork, id: IncidentId, now: Instant.Instant): void => {
  for (const found of unit.alerts.group(id)) {
    const alert = clampToNow(found, ["next_at", "ended_at"], now)
    if (alert !== found || alert.leased_until !== undefined)
      unit.alerts.put({ ...alert, leased_until: undefined })
  }
}

/**
 * An item that was written ahead, with its moments moved back by as much: a retry still waits as long as
 * it was to. When it was first attempted never changes.
 */
const movedBack = (item: OutboxRecord, now: Instant.Instant): OutboxRecord => {
  const { age_starts_at, leased_until, next_attempt_at, updated_at } = item
  const back = (at: Instant.Instant): Instant.Instant => Instant.fromMicros(at - updated_at + now)
  // Its age when it failed tells a refusal from the bounds on attempts and age.
  if (item.state === "failed") return { ...item, age_starts_at: back(age_starts_at), updated_at: now }
  const young = { ...item, age_starts_at: Instant.min(age_starts_at, now) }
  // A lease goes by the storage's clock. One that ends before the item was written shows that this was right.
  if (item.state === "sending")
    return leased_until === undefined || leased_until <= updated_at
      ? young
      : { ...young, leased_until: back(leased_until) }
  const isWaiting = next_attempt_at !== undefined && next_attempt_at > now
  return { ...young, updated_at: now, next_attempt_at: isWaiting ? back(next_attempt_at) : next_attempt_at }
}
