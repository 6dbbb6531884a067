import { Duration } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import { commandOf, type Decision } from "../engine/workspace/Decision.ts"
import { ensure } from "../engine/workspace/ensure.ts"
import type { RuleOptions } from "../ports/RuleSettings.ts"
import type { MarkRecord } from "../model/MarkRecord.ts"

/**
 * Whether agents may still be returning after an outage of the service: for one dead threshold
 * after its end, no agent counts as dead (docs/rules.md#outages-of-the-service).
 */
export const isInGrace = (
  mark: MarkRecord | undefined,
  now: Instant.Instant,
  rules: RuleOptions,
): boolean => {
  const end = lastOutage(mark, now, rules)?.ended_at
  return end !== undefined && now < Instant.plus(end, rules.deadAfter)
}

/** A time in which the service could not commit. */
export interface Outage {
  /** The last sign of life before it. */
  readonly began_at: Instant.Instant | undefined
  readonly ended_at: Instant.Instant
}

/**
 * The last outage. It ends now if the last mark is older than the stale threshold. An end in the
 * future comes from a clock set back since, and counts as now; otherwise the grace would last until
 * the clock caught up.
 */
export const lastOutage = (
  mark: MarkRecord | undefined,
  now: Instant.Instant,
  { staleAfter }: Pick<RuleOptions, "staleAfter">,
): Outage | undefined => {
  if (mark === undefined) return undefined
  const { marked_at, outage_began_at: began_at, outage_ended_at: ended_at } = mark
  if (marked_at < Instant.minus(now, staleAfter)) return { began_at: marked_at, ended_at: now }
  return ended_at && { began_at, ended_at: Instant.min(ended_at, now) }
}

// Four marks fit into the longest gap that is not an outage, so that one slow mark is not an
// outage.
const MARKS_PER_THRESHOLD = 4
const LONGEST_INTERVAL = Duration.seconds(5)

/** How often a server leaves its mark. */
export const markEvery = ({ staleAfter }: RuleOptions): Duration.Duration =>
  Duration.min(LONGEST_INTERVAL, Duration.divideUnsafe(staleAfter, MARKS_PER_THRESHOLD))

/**
 * Whether a moment lies so far ahead that a clock was set back since. Clocks of replicas differ by
 * less.
 */
export const isFarAhead = (at: Instant.Instant, now: Instant.Instant, rules: RuleOptions): boolean =>
  at > Instant.plus(now, markEvery(rules))

/**
 * Records that the service could commit now, and whether an outage ended. The mark never goes back if
 * replicas' clocks differ slightly. One far ahead stays, and counts as now, until what else the
 * clock dated ahead is set right (`isRight`): a crash meanwhile must not hide that it was set back.
 * Returns whether there is such a mark.
 */
export const leaveMark = commandOf(function* (
  workspace,
  now,
  rules: RuleOptions,
  { isRight = false } = {},
): Decision<boolean> {
  yield* ensure(workspace, { mark: true })
  const mark = workspace.marks.get("service")
  const outage = lastOutage(mark, now, rules)
  const isAhead = mark !== undefined && isFarAhead(mark.marked_at, now, rules)
  const marked_at = mark === undefined || (isAhead && isRight) ? now : Instant.max(mark.marked_at, now)
  workspace.marks.put({
    name: "service",
    marked_at,
    outage_began_at: outage?.began_at,
    outage_ended_at: outage?.ended_at,
  })
  return isAhead
})
