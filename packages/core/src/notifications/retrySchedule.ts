import { Duration } from "effect"

/** An item is not tried more often than that (docs/rules.md#delivery). */
export const MAX_ATTEMPTS = 14
/** An item older than that is not tried again (docs/rules.md#delivery). */
export const MAX_AGE = Duration.hours(24)

const LONGEST_RETRY_AFTER = Duration.hours(1)
const JITTER = 0.2

const DELAYS: ReadonlyArray<Duration.Duration> = [
  Duration.seconds(5),
  Duration.seconds(30),
  Duration.minutes(2),
  Duration.minutes(5),
  Duration.minutes(15),
  Duration.minutes(30),
  Duration.hours(1),
  Duration.hours(2),
]
const LAST_DELAY = Duration.hours(4)

/** What the delay after an attempt depends on. */
export interface RetryInput {
  /** How many attempts were made, from 1. */
  readonly attempts: number
  /** A number from 0 up to 1, by chance. */
  readonly random: number
  /** What the receiver asked for, if it did. */
  readonly retryAfterSeconds?: number | undefined
}

/**
 * How long to wait before the next attempt: by the schedule, give or take a fifth, or what the receiver asked for if that
 * is later, but no more than an hour of it (docs/rules.md#delivery).
 */
export const retryDelay = ({ attempts, random, retryAfterSeconds }: RetryInput): Duration.Duration => {
  const scheduled = Duration.times(DELAYS[attempts - 1] ?? LAST_DELAY, 1 - JITTER + 2 * JITTER * random)
  if (retryAfterSeconds === undefined) return scheduled
  return Duration.max(scheduled, Duration.min(Duration.seconds(retryAfterSeconds), LONGEST_RETRY_AFTER))
}
