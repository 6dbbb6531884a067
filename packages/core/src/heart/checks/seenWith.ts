import { EventId } from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { CheckRecord } from "../model/CheckRecord.ts"

/** Event IDs kept per check for one `observed_at`: without a bound, a stopped clock would grow the row forever. */
const SEEN_EVENT_IDS_KEPT = 1_000

const NONE: ReadonlyArray<never> = []
const ANY_ONE: ReadonlyArray<EventId> = [EventId.make("00000000-0000-7000-8000-000000000000")]

/** A list of one ID, as a copy of another: spreads take more room, literals live too long, and Array.of is slow. */
const listOf = (id: EventId): ReadonlyArray<EventId> => {
  const list = ANY_ONE.slice()
  list[0] = id
  return list
}

/** The IDs of the events that a check has seen at the time of its last one, this one included. */
export const seenWith = (
  check: CheckRecord | undefined,
  { event_id, observed_at }: { readonly event_id: EventId | undefined; readonly observed_at: Instant },
): ReadonlyArray<EventId> => {
  const seen = check?.last_observed_at === observed_at ? check.seen_event_ids : NONE
  if (event_id === undefined) return seen
  // Most results are the first of their moment.
  return seen.length === 0 ? listOf(event_id) : [...seen.slice(1 - SEEN_EVENT_IDS_KEPT), event_id]
}
