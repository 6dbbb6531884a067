import * as Instant from "@tocsin/contract/Instant"
import { latestUntil, nextAfter, type Schedule } from "./Schedule.ts"

/** One time of a maintenance window, or of quiet hours. */
interface Occurrence {
  readonly starts_at: Instant.Instant
  /** The first moment at which it is over. */
  readonly ends_at: Instant.Instant
}

/** A span that returns by a schedule. */
export interface Recurring {
  readonly schedule: Schedule
  readonly endOf: (starts_at: Instant.Instant) => Instant.Instant
}

const occurrenceFrom = ({ endOf }: Recurring, starts_at: Instant.Instant): Occurrence => ({
  starts_at,
  ends_at: endOf(starts_at),
})

/** The occurrence in force at `now`; of several, the one that ends last. */
export const occurrenceInForce = (recurring: Recurring, now: Instant.Instant): Occurrence | undefined => {
  const latest = latestOccurrence(recurring, now)
  return now < latest.ends_at ? latest : undefined
}

/** An occurrence, and the start of the one that follows it. */
interface Period extends Occurrence {
  readonly next: Instant.Instant
}

/** Every decision on a firing asks, nearly always within the same period; finding it takes 0.04 ms. */
const lastPeriods = new WeakMap<Schedule, Period>()

const latestOccurrence = (recurring: Recurring, now: Instant.Instant): Occurrence => {
  const { schedule } = recurring
  const known = lastPeriods.get(schedule)
  if (known !== undefined && known.starts_at <= now && now < known.next) return known
  const occurrence = occurrenceFrom(recurring, latestUntil(schedule, now))
  lastPeriods.set(schedule, { ...occurrence, next: nextAfter(schedule, now) })
  return occurrence
}

/** At most `count` occurrences that have not ended at `now` and begin before a moment, first the one in force. */
export const nextOccurrences = (
  window: Recurring,
  now: Instant.Instant,
  count: number,
  before = Instant.LATEST,
): ReadonlyArray<Occurrence> => {
  const present = occurrenceInForce(window, now)
  const occurrences = present === undefined ? [] : [present]
  for (let starts_at = now; occurrences.length < count;) {
    starts_at = nextAfter(window.schedule, starts_at)
    if (starts_at >= before) break
    occurrences.push(occurrenceFrom(window, starts_at))
  }
  return occurrences
}
