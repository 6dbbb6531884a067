import type { EventId } from "@tocsin/contract/formats/Identifiers"
import type { BatchContext, CheckResult } from "./applyEvent.ts"

/** Finds the IDs that a batch repeats. IDs of one sender ascend: until one does not, none is looked up. */
export const repetitionsIn = (events: ReadonlyArray<CheckResult>): BatchContext["isRepeated"] => {
  let asked = 0
  let newest = ""
  let earlier: Set<EventId> | undefined
  return (eventId) => {
    asked += 1
    if (earlier === undefined && eventId > newest) {
      newest = eventId
      return false
    }
    earlier ??= new Set(events.flatMap(({ event_id }) => event_id ?? []).slice(0, asked - 1))
    const isRepeated = earlier.has(eventId)
    earlier.add(eventId)
    return isRepeated
  }
}
