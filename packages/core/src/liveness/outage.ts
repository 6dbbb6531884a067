import { Duration } from "effect"
import * as Instant from "../contract/Instant.ts"
import type { Command } from "../engine/workspace/Decision.ts"
import { ensure } from "../engine/workspace/ensure.ts"
import type { PolicyOptions } from "../ports/Policy.ts"
import type { MarkRecord } from "./MarkRecord.ts"

/**
 * Whether agents may still be on their way back after an outage of the service: until a dead threshold has passed since
 * its end, none is called dead (docs/rules.md#outages-of-the-service).
 */
export const isInGrace = (
  mark: MarkRecord | undefined,
  now: Instant.Instant,
  policy: PolicyOptions,
): boolean => {
  const end = mark === undefined ? undefined : outageEnd(mark, now, policy)
  return end !== undefined && now < Instant.plus(end, policy.deadAfter)
}

/**
 * When the last outage ended: now, when the last mark is older than the stale threshold. An end that lies ahead was noted
 * by a clock that has been set back since, and counts as now: otherwise the grace would last until the clock caught up.
 */
const outageEnd = (
  mark: MarkRecord,
  now: Instant.Instant,
  policy: PolicyOptions,
): Instant.Instant | undefined => {
  if (mark.marked_at < Instant.minus(now, policy.staleAfter)) return now
  return mark.outage_ended_at && Instant.min(mark.outage_ended_at, now)
}

// Four marks fit into the longest gap that is no outage, so that a slow one is no outage either.
const MARKS_PER_THRESHOLD = 4
const LONGEST_INTERVAL = Duration.seconds(5)

/** How often a server leaves its mark. */
export const markEvery = ({ staleAfter }: PolicyOptions): Duration.Duration =>
  Duration.min(LONGEST_INTERVAL, Duration.divideUnsafe(staleAfter, MARKS_PER_THRESHOLD))

/**
 * When the service is marked as alive. The mark never goes back for replicas whose clocks differ by a little. One further
 * ahead was left by a clock that has been set back since, and counts as now: otherwise it would hide every outage until the
 * clock caught up.
 */
const markedAt = (
  mark: MarkRecord | undefined,
  now: Instant.Instant,
  policy: PolicyOptions,
): Instant.Instant =>
  mark === undefined || mark.marked_at > Instant.plus(now, markEvery(policy))
    ? now
    : Instant.max(mark.marked_at, now)

/** Notes that the service could commit now, and whether an outage ended with it. */
export const leaveMark =
  (policy: PolicyOptions): Command<void> =>
  (workspace, now) =>
    (function* () {
      yield* ensure(workspace, { mark: true })
      const mark = workspace.marks.get("service")
      workspace.marks.put({
        name: "service",
        marked_at: markedAt(mark, now, policy),
        outage_ended_at: mark && outageEnd(mark, now, policy),
      })
    })()
