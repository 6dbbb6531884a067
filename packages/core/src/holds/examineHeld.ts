import type * as Instant from "@tocsin/contract/Instant"
import { move } from "@tocsin/contract/TransitionTable"
import type { IncidentId } from "@tocsin/contract/Identifiers"
import { commandOf, type Decision } from "../engine/workspace/Decision.ts"
import { ensure } from "../engine/workspace/ensure.ts"
import type { Workspace } from "../engine/workspace/Workspace.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import type { OutboxRecord } from "../model/OutboxRecord.ts"
import { OutboxTransitions } from "../model/OutboxTransitions.ts"
import { gatherHolds, type HoldOptions, type Holds } from "./gatherHolds.ts"
import { coalesced, heldItem, isHeld, waitingUnderHolds } from "./heldItems.ts"
import { lastEnd } from "./holdsOf.ts"

/**
 * Examines held firings that are due for it. Those of open incidents that are free now become due
 * (docs/rules.md#holds). Returns how many it found.
 */
export const examineHeld = commandOf(function* (
  workspace,
  now,
  options: HoldOptions,
  limit: number,
): Decision<number> {
  yield { heldOutbox: { limit } }
  const { heldOutbox } = workspace.found
  yield* examine(workspace, heldOutbox, options, now)
  return heldOutbox.length
})

/** Examines the held firings of these incidents, because their holds may have changed. */
export const examineIncidents = commandOf(function* (
  workspace,
  now,
  options: HoldOptions,
  ids: ReadonlyArray<IncidentId>,
): Decision<void> {
  yield* examine(workspace, ids, options, now)
})

function* examine(
  workspace: Workspace,
  found: ReadonlyArray<IncidentId>,
  options: HoldOptions,
  now: Instant.Instant,
): Decision<void> {
  const ids = Array.from(new Set(found))
  if (ids.length === 0) return
  // Incidents are locked before their outbox items, everywhere.
  yield* ensure(workspace, { incidents: ids })
  const incidents = ids.flatMap((id) => workspace.incidents.get(id) ?? [])
  const holds = yield* gatherHolds(workspace, incidents, options, now)
  for (const incident of incidents) {
    const acknowledgedUntil = holds.acknowledgedUntil(incident)
    // The end of an acknowledgement frees its firings, with a cause of its own.
    if (acknowledgedUntil === undefined || now < acknowledgedUntil)
      examineIncident(workspace, incident, holds, now)
  }
}

/** Of several firings for one receiver, the last decides; it states what the others would have. */
export const examineIncident = (
  workspace: Workspace,
  incident: IncidentRecord,
  { onItem }: Pick<Holds, "onItem">,
  now: Instant.Instant,
): void => {
  const items = workspace.outbox.group(incident.id)
  for (const receiver of new Set(items.filter(isHeld).map((item) => item.receiver))) {
    const waiting = waitingUnderHolds(items, receiver)
    const last = waiting.at(-1)
    if (last === undefined) continue
    const holds = onItem(incident, last)
    if (holds.length > 0) {
      for (const item of waiting)
        if (item.look_at !== lastEnd(holds)) workspace.outbox.put(heldItem(item, holds, now))
    } else {
      freeOne(workspace, waiting, freed(last, incident, "hold_ended", now))
    }
  }
}

/**
 * Of firings that wait under holds, one becomes due and takes the place of the others. It is the first
 * that its receiver gets if one of them would have been.
 */
export const freeOne = (
  workspace: Workspace,
  waiting: ReadonlyArray<OutboxRecord>,
  item: OutboxRecord,
): void => {
  for (const other of waiting)
    if (other.id !== item.id) workspace.outbox.put(coalesced(other, item.updated_at))
  const isFirst = item.cause === "worsened" && waiting.some(({ cause }) => cause === "opened")
  workspace.outbox.put(isFirst ? { ...item, cause: "opened" } : item)
}

/** A firing that nothing holds any more: due, with what its incident shows now. */
export const freed = (
  item: OutboxRecord,
  { severity, summary }: IncidentRecord,
  trigger: "hold_ended" | "released",
  now: Instant.Instant,
): OutboxRecord => ({
  ...item,
  state: move(OutboxTransitions, "pending", trigger),
  severity,
  summary,
  next_attempt_at: now,
  look_at: undefined,
  counts_from: now,
  updated_at: now,
})
