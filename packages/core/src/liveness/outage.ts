import { Duration } from "effect"
import * as Instant from "../contract/Instant.ts"
import type { Command } from "../engine/workspace/Decision.ts"
import { ensure } from "../engine/workspace/ensure.ts"
import type { RuleOptions } from "../ports/RuleSettings.ts"
import type { MarkRecord } from "./MarkRecord.ts"

/**
 * Whether agents may still be returning after an outage of the service: for one dead threshold
 * after its end, no agent counts as dead (docs/rules.md#outages-of-the-service).
 */
export const isInGrace = (
  mark: MarkRecord | undefined,
  now: Instant.Instant,
  rules: RuleOptions,
): boolean => {
  const end = mark === undefined ? undefined : outageEnd(mark, now, rules)
  return end !== undefined && now < Instant.plus(end, rules.deadAfter)
}

/**
 * When the last outage ended: now, if the last mark is older than the stale threshold. An end in
 * the future comes from a clock set back since, and counts as now; otherwise the grace would last
 * until the clock caught up.
 */
export const outageEnd = (
  mark: MarkRecord,
  now: Instant.Instant,
  rules: RuleOptions,
): Instant.Instant | undefined => {
  if (mark.marked_at < Instant.minus(now, rules.staleAfter)) return now
  return mark.outage_ended_at && Instant.min(mark.outage_ended_at, now)
}

// Four marks fit into the longest gap that is not an outage, so that one slow mark is not an
// outage.
const MARKS_PER_THRESHOLD = 4
const LONGEST_INTERVAL = Duration.seconds(5)

/** How often a server leaves its mark. */
export const markEvery = ({ staleAfter }: RuleOptions): Duration.Duration =>
  Duration.min(LONGEST_INTERVAL, Duration.divideUnsafe(staleAfter, MARKS_PER_THRESHOLD))

/**
 * The time of the new mark. It never goes back if replicas' clocks differ slightly. A mark far
 * ahead comes from a clock set back since, and counts as now; otherwise it would hide every outage
 * until the clock caught up.
 */
const markedAt = (mark: MarkRecord | undefined, now: Instant.Instant, rules: RuleOptions): Instant.Instant =>
  mark === undefined || mark.marked_at > Instant.plus(now, markEvery(rules))
    ? now
    : Instant.max(mark.marked_at, now)

/** Records that the service could commit now, and whether an outage ended. */
export const leaveMark = (rules: RuleOptions): Command<void> =>
  function* (workspace, now) {
    yield* ensure(workspace, { mark: true })
    const mark = workspace.marks.get("service")
    workspace.marks.put({
      name: "service",
      marked_at: markedAt(mark, now, rules),
      outage_ended_at: mark && outageEnd(mark, now, rules),
    })
  }
