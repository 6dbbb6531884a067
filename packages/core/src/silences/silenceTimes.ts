import { Duration, Result } from "effect"
import { formatDuration } from "@tocsin/contract/DurationText"
import * as Instant from "@tocsin/contract/Instant"
import type { SilenceRequest } from "@tocsin/contract/Silences"
import type { RuleOptions } from "../ports/RuleSettings.ts"
import type { SilenceRecord } from "../model/SilenceRecord.ts"

type SilenceLimit = Pick<RuleOptions, "longestSilence">

/** Clocks of callers differ: a start that is no longer past than this counts as now. */
const PAST = Duration.minutes(1)

/** An end that a silence with this start may have. */
const endAfter = (
  starts_at: Instant.Instant,
  ends_at: Instant.Instant,
  { longestSilence }: SilenceLimit,
  field: "ends_at" | "for" = "ends_at",
): Result.Result<Instant.Instant, string> => {
  if (ends_at <= starts_at) return Result.fail("ends_at must be in the future, and after starts_at")
  if (ends_at > Instant.LATEST) return Result.fail("ends_at must be before the year 10000")
  return ends_at > Instant.plus(starts_at, longestSilence)
    ? Result.fail(
        `${field} must not make the silence longer than ${formatDuration(longestSilence)} (SERVICE_SILENCE_MAX, or longestSilence in a program); extend it later`,
      )
    : Result.succeed(ends_at)
}

/** When a new silence is asked to begin and end. */
export type AskedTimes = Pick<SilenceRequest, "ends_at" | "for" | "starts_at">

/** When a new silence begins and ends, within the settings (docs/rules.md#silences). */
export const silenceTimes = (
  request: AskedTimes,
  limit: SilenceLimit,
  now: Instant.Instant,
): Result.Result<Pick<SilenceRecord, "ends_at" | "starts_at">, string> => {
  if (request.starts_at !== undefined && request.starts_at < Instant.minus(now, PAST))
    return Result.fail("starts_at must not be more than a minute in the past; leave it out to start now")
  const starts_at = Instant.max(request.starts_at ?? now, now)
  if (request.for !== undefined && request.ends_at !== undefined)
    return Result.fail("for and ends_at exclude each other; give one of them")
  const ends_at = request.for === undefined ? request.ends_at : Instant.plus(starts_at, request.for)
  if (ends_at === undefined) return Result.fail("ends_at or for is missing; give one of them")
  const field = request.for === undefined ? "ends_at" : "for"
  return Result.map(endAfter(starts_at, ends_at, limit, field), () => ({ starts_at, ends_at }))
}

/** The end that an edit gives a silence, within the settings. */
export const editedEnd = (
  ends_at: Instant.Instant,
  { starts_at }: Pick<SilenceRecord, "starts_at">,
  limit: SilenceLimit,
  now: Instant.Instant,
): Result.Result<Instant.Instant, string> => {
  if (ends_at <= now) return Result.fail("ends_at must be in the future; expire the silence to end it now")
  return endAfter(starts_at, ends_at, limit)
}
