import type { IncidentId } from "../contract/Identifiers.ts"
import type * as Instant from "../contract/Instant.ts"
import type { Workspace } from "../engine/workspace/Workspace.ts"
import type { OutboxRecord } from "../notifications/OutboxRecord.ts"
import { wasAttempted } from "../notifications/retrySchedule.ts"
import { type Hold, lastEnd } from "./holdsOf.ts"

/** Whether holds apply: to a firing that was never attempted, and not released by hand. */
export const canBeHeld = (item: OutboxRecord): boolean =>
  item.event_type === "firing" &&
  item.state === "pending" &&
  item.released_at === undefined &&
  !wasAttempted(item)

/** Whether a firing was found to be held when it was last examined. */
export const isHeld = (item: OutboxRecord): boolean => item.state === "pending" && item.look_at !== undefined

/** A firing under these holds: not due, and examined again when the last of them ends. */
export const heldItem = (
  item: OutboxRecord,
  holds: ReadonlyArray<Hold>,
  now: Instant.Instant,
): OutboxRecord => ({
  ...item,
  next_attempt_at: undefined,
  look_at: lastEnd(holds),
  updated_at: isHeld(item) ? item.updated_at : now,
})

/** Has the held firings of an incident examined soon, because something about it changed. */
export const lookSoon = (workspace: Workspace, id: IncidentId, now: Instant.Instant): void => {
  for (const item of workspace.outbox.group(id))
    if (isHeld(item) && item.look_at !== now) workspace.outbox.put({ ...item, look_at: now })
}
