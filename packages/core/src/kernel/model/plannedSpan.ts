import { Duration, Result } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"

/** The times of a row that is in force from its start until its end, or until it is given one. */
interface PlannedSpan {
  readonly starts_at: Instant.Instant
  readonly ends_at: Instant.Instant | undefined
}

/** Whether a span is still to come, in force, or over. */
export const spanState = <InForce extends string, Over extends string>(
  { ends_at, starts_at }: PlannedSpan,
  inForce: InForce,
  over: Over,
  now: Instant.Instant,
): "scheduled" | InForce | Over =>
  ends_at !== undefined && ends_at <= now ? over : starts_at <= now ? inForce : "scheduled"

/** Why a planned row was not stored: its times are refused, or those that have not ended are too many. */
export interface Refusal {
  readonly reason: "invalid" | "too_many"
  readonly message: string
}

export const refused = (reason: Refusal["reason"], message: string) => Result.fail({ reason, message })

/** Clocks of callers differ: a start that is no longer past than this counts as now. */
const PAST = Duration.minutes(1)

/** When a span begins that is asked to begin at a moment: not before now. `field` is where the request states that. */
export const spanStart = (
  asked: Instant.Instant | undefined,
  field: string,
  now: Instant.Instant,
): Result.Result<Instant.Instant, string> =>
  asked !== undefined && asked < Instant.minus(now, PAST)
    ? Result.fail(`${field} must not be more than a minute in the past; leave it out to start now`)
    : Result.succeed(Instant.max(asked ?? now, now))
