import { Result } from "effect"
import * as Instant from "../contract/Instant.ts"
import { nextAfter, type Schedule } from "../policy/Schedule.ts"
import type { ExpectationRecord, Terms } from "./ExpectationRecord.ts"
import { scheduleOf } from "./scheduleOf.ts"

const MICROS_PER_MILLI = 1_000n
const EARLY_PART = 10n
const LONGEST_EARLY_MILLIS = 300_000

/**
 * Looks come this much after the due time, so that a result that arrives as regularly as the one
 * before is found, and the next look is a whole `after` later. It is a part of the 15 s in which an
 * overdue check joins its incident.
 */
const LOOK_DELAY_MILLIS = 5_000

export const micros = (millis: number): bigint => BigInt(millis) * MICROS_PER_MILLI

/** When to look at a check that cannot be overdue before `earliest`. */
export const lookAfter = (earliest: Instant.Instant): Instant.Instant => later(earliest, LOOK_DELAY_MILLIS)

const later = (instant: Instant.Instant, millis: number): Instant.Instant =>
  Instant.fromMicros(instant + micros(millis))

/**
 * The occurrence that a check is to meet next: the first since it is expected and since its last result,
 * or the one that follows, where that result was early for the first.
 */
const occurrenceToMeet = (
  schedule: Schedule,
  since: Instant.Instant,
  reportedAt: Instant.Instant | undefined,
): Instant.Instant => {
  if (reportedAt === undefined) return nextAfter(schedule, since)
  const first = nextAfter(schedule, Instant.max(since, reportedAt))
  const early = first - reportedAt
  if (early > micros(LONGEST_EARLY_MILLIS)) return first
  const following = nextAfter(schedule, first)
  const isEarlyForIt = early <= (following - first) / EARLY_PART && nextAfter(schedule, reportedAt) === first
  return isEarlyForIt ? following : first
}

/**
 * When a check is due that last reported at `reportedAt`, if ever: after that moment its silence
 * counts (docs/rules.md#freshness).
 */
export const dueTime = (
  { expected_from, terms }: Pick<ExpectationRecord, "expected_from" | "terms">,
  reportedAt: Instant.Instant | undefined,
): Instant.Instant => {
  const { after_millis, grace_millis = 0 } = terms
  const schedule = scheduleOfTerms(terms)
  if (schedule === undefined) {
    const from = reportedAt === undefined ? expected_from : Instant.max(expected_from, reportedAt)
    return later(from, after_millis)
  }
  return later(occurrenceToMeet(schedule, expected_from, reportedAt), grace_millis)
}

/** The schedule of terms with a cron expression. The terms were checked when they were declared. */
const scheduleOfTerms = ({ cron, tz }: Terms): Schedule | undefined =>
  cron === undefined || tz === undefined ? undefined : Result.getOrThrow(scheduleOf({ cron, tz }))
