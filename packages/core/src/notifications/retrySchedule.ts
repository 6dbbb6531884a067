import { Duration } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import { isDropped, type OutboxRecord, wasAttempted } from "../model/OutboxRecord.ts"

/** The last attempt (docs/rules.md#delivery). */
const MAX_ATTEMPTS = 14
/** The age after which an item is not retried (docs/rules.md#delivery). */
const MAX_AGE = Duration.hours(24)

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

/** The facts that decide the delay after an attempt. */
interface RetryInput {
  /** Attempts made so far, from 1. */
  readonly attempts: number
  /** A random number from 0 up to 1. */
  readonly random: number
  /** The delay that the receiver requested, if any. */
  readonly retryAfterSeconds?: number | undefined
}

/**
 * The delay before the next attempt: by the schedule, ± a fifth, or what the receiver asked for if
 * that is later, up to an hour (docs/rules.md#delivery).
 */
export const retryDelay = ({ attempts, random, retryAfterSeconds }: RetryInput): Duration.Duration => {
  const scheduled = Duration.times(DELAYS[attempts - 1] ?? LAST_DELAY, 1 - JITTER + 2 * JITTER * random)
  if (retryAfterSeconds === undefined) return scheduled
  return Duration.max(scheduled, Duration.min(Duration.seconds(retryAfterSeconds), LONGEST_RETRY_AFTER))
}

/** Whether the limits on attempts and age allow another attempt. */
export const mayRetry = (
  { attempts, age_starts_at }: Pick<OutboxRecord, "attempts" | "age_starts_at">,
  now: Instant.Instant,
): boolean => attempts < MAX_ATTEMPTS && now < Instant.plus(age_starts_at, MAX_AGE)

/**
 * Whether the receiver refused it permanently. An item that failed at the limits may have arrived
 * unnoticed.
 */
const wasRefused = (item: OutboxRecord): boolean => item.state === "failed" && mayRetry(item, item.updated_at)

/**
 * Whether the receiver may have this notification, or is about to: it was attempted and never
 * refused.
 */
export const mayArrive = (item: OutboxRecord): boolean =>
  !isDropped(item) && wasAttempted(item) && !wasRefused(item)
