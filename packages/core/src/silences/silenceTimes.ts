import { Result } from "effect"
import { formatDuration } from "@tocsin/contract/DurationText"
import * as Instant from "@tocsin/contract/Instant"
import type { SilenceRequest } from "@tocsin/contract/Silences"
import type { RuleOptions } from "../ports/RuleSettings.ts"
import type { SilenceRecord } from "../model/SilenceRecord.ts"

type SilenceLimit = Pick<RuleOptions, "longestSilence">

/** An end that a silence with this start may have. */
const endAfter = (
  starts_at: Instant.Instant,
  ends_at: Instant.Instant,
  { longestSilence }: SilenceLimit,
): Result.Result<Instant.Instant, string> => {
  if (ends_at <= starts_at) return Result.fail("ends_at must be in the future, and after starts_at")
  if (ends_at > Instant.LATEST) return Result.fail("ends_at must be before the year 10000")
  return ends_at > Instant.plus(starts_at, longestSilence)
    ? Result.fail(
        `a silence must not last longer than ${formatDuration(longestSilence)} (SERVICE_SILENCE_MAX, or longestSilence in a program); extend it later`,
      )
    : Result.succeed(ends_at)
}

/** When a new silence begins and ends, within the settings (docs/rules.md#silences). */
export const silenceTimes = (
  request: Pick<SilenceRequest, "ends_at" | "for" | "starts_at">,
  limit: SilenceLimit,
  now: Instant.Instant,
): Result.Result<Pick<SilenceRecord, "ends_at" | "starts_at">, string> => {
  const starts_at = request.starts_at === undefined ? now : Instant.max(request.starts_at, now)
  if (request.for !== undefined && request.ends_at !== undefined)
    return Result.fail("for and ends_at exclude each other; give one of them")
  const ends_at = request.for === undefined ? request.ends_at : Instant.plus(starts_at, request.for)
  if (ends_at === undefined) return Result.fail("ends_at or for is missing; give one of them")
  return Result.map(endAfter(starts_at, ends_at, limit), () => ({ starts_at, ends_at }))
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
