import { Duration, Result } from "effect"
import * as Instant from "@tocsin/contract/Instant"

/** The times of a row that is in force from its start until its end. */
interface PlannedSpan {
  readonly starts_at: Instant.Instant
  readonly ends_at: Instant.Instant
}

/** Whether a span is still to come, in force, or over. */
export const spanState = <Over extends string>(
  { ends_at, starts_at }: PlannedSpan,
  over: Over,
  now: Instant.Instant,
): "active" | "scheduled" | Over => (ends_at <= now ? over : starts_at <= now ? "active" : "scheduled")

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
