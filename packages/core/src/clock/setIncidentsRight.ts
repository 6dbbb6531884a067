import type { IncidentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import { commandOf, type Decision } from "../engine/workspace/Decision.ts"
import { ensure } from "../engine/workspace/ensure.ts"
import type { Workspace } from "../engine/workspace/Workspace.ts"
import { lookSoon } from "../holds/heldItems.ts"
import type { OutboxRecord } from "../model/OutboxRecord.ts"
import { byNow } from "../model/byNow.ts"

/**
 * After a clock was set back: these incidents opened by now, and their timers, holds, notifications and
 * alerts wait no longer than they were to (docs/decisions/0032).
 */
export const setIncidentsRight = commandOf(function* (
  workspace,
  now,
  ids: ReadonlyArray<IncidentId>,
): Decision<void> {
  yield* ensure(workspace, { incidents: ids })
  for (const id of new Set(ids)) {
    const found = workspace.incidents.get(id)
    if (found === undefined) continue
    const incident = byNow(found, ["opened_at", "next_look_at"], now)
    if (incident !== found) workspace.incidents.put(incident)
    for (const item of workspace.outbox.group(id))
      if (item.updated_at > now) workspace.outbox.put(movedBack(item, now))
    if (incident !== found) lookSoon(workspace, id, now)
    setAlertsRight(workspace, id, now)
  }
})

/** Alerts wait a minute at most, so they are due. A post under way counts for nothing, and is repeated. */
const setAlertsRight = (workspace: Workspace, id: IncidentId, now: Instant.Instant): void => {
  for (const found of workspace.alerts.group(id)) {
    const alert = byNow(found, ["next_at", "ended_at"], now)
    if (alert !== found || alert.leased_until !== undefined)
      workspace.alerts.put({ ...alert, leased_until: undefined })
  }
}

/**
 * An item that was written ahead, with its moments moved back by as much: a retry still waits as long as
 * it was to. When it was first attempted never changes.
 */
const movedBack = (item: OutboxRecord, now: Instant.Instant): OutboxRecord => {
  const { counts_from, leased_until, next_attempt_at, updated_at } = item
  const back = (at: Instant.Instant): Instant.Instant => Instant.fromMicros(at - updated_at + now)
  // Its age when it failed tells a refusal from the bounds on attempts and age.
  if (item.state === "failed") return { ...item, counts_from: back(counts_from), updated_at: now }
  const young = { ...item, counts_from: Instant.min(counts_from, now) }
  // A lease goes by the storage's clock. One that ends before the item was written shows that this was right.
  if (item.state === "sending")
    return leased_until === undefined || leased_until <= updated_at
      ? young
      : { ...young, leased_until: back(leased_until) }
  const isWaiting = next_attempt_at !== undefined && next_attempt_at > now
  return { ...young, updated_at: now, next_attempt_at: isWaiting ? back(next_attempt_at) : next_attempt_at }
}
