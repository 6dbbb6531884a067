import { Duration } from "effect"
import * as Instant from "../contract/Instant.ts"
import type { OutboxRecord } from "./OutboxRecord.ts"

/** An item is not tried more often than that (docs/rules.md#delivery). */
const MAX_ATTEMPTS = 14
/** An item older than that is not tried again (docs/rules.md#delivery). */
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

type Attempted = Pick<OutboxRecord, "attempts" | "created_at" | "counts_from">

/** Whether an attempt was ever made: a replay sets the attempts back, and counts its age from a later moment. */
export const wasAttempted = ({ attempts, created_at, counts_from }: Attempted): boolean =>
  attempts > 0 || counts_from > created_at

/** Whether the bounds on attempts and age still admit another attempt. */
export const mayRetry = (
  { attempts, counts_from }: Pick<OutboxRecord, "attempts" | "counts_from">,
  now: Instant.Instant,
): boolean => attempts < MAX_ATTEMPTS && now < Instant.plus(counts_from, MAX_AGE)

/** Whether its receiver refused it for good. What ended at the bounds instead may have arrived unnoticed. */
const wasRefused = (item: OutboxRecord): boolean => item.state === "failed" && mayRetry(item, item.updated_at)

/** Whether the receiver of a notification may know of it, or is about to: it was attempted and never refused for good. */
export const mayArrive = (item: OutboxRecord): boolean =>
  item.state !== "discarded" && wasAttempted(item) && !wasRefused(item)
