import * as Instant from "../contract/Instant.ts"
import type { PolicyWindow } from "./compilePolicy.ts"
import { latestUntil, nextAfter } from "./Schedule.ts"

/** One time of a maintenance window. */
interface Occurrence {
  readonly starts_at: Instant.Instant
  /** The first moment at which the window is over. */
  readonly ends_at: Instant.Instant
}

const occurrenceFrom = (window: PolicyWindow, starts_at: Instant.Instant): Occurrence => ({
  starts_at,
  ends_at: Instant.plus(starts_at, window.for),
})

/** The occurrence in force at `now`; of several, the one that ends last. */
export const occurrenceInForce = (window: PolicyWindow, now: Instant.Instant): Occurrence | undefined => {
  const latest = occurrenceFrom(window, latestUntil(window.schedule, now))
  return now < latest.ends_at ? latest : undefined
}

/** The next occurrences that have not ended at `now`, first the one in force. */
export const nextOccurrences = (
  window: PolicyWindow,
  now: Instant.Instant,
  count: number,
): ReadonlyArray<Occurrence> => {
  const present = occurrenceInForce(window, now)
  const occurrences = present === undefined ? [] : [present]
  for (let starts_at = now; occurrences.length < count;) {
    starts_at = nextAfter(window.schedule, starts_at)
    occurrences.push(occurrenceFrom(window, starts_at))
  }
  return occurrences
}
