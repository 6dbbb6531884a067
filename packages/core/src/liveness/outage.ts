import * as Instant from "../contract/Instant.ts"
import type { PolicyOptions } from "../ports/Policy.ts"
import type { Command } from "../workspace/Decision.ts"
import { ensure } from "../workspace/ensure.ts"
import type { MarkRecord } from "./MarkRecord.ts"

/**
 * Whether agents may still be on their way back after an outage of the service: until a dead threshold has passed since
 * its end, none is called dead (decisions §5).
 */
export const isInGrace = (
  mark: MarkRecord | undefined,
  now: Instant.Instant,
  policy: PolicyOptions,
): boolean => {
  const end = mark === undefined ? undefined : outageEnd(mark, now, policy)
  return end !== undefined && now < Instant.plus(end, policy.deadAfter)
}

/** When the last outage ended: now, when the last mark is older than the stale threshold. */
const outageEnd = (
  mark: MarkRecord,
  now: Instant.Instant,
  policy: PolicyOptions,
): Instant.Instant | undefined =>
  mark.marked_at < Instant.minus(now, policy.staleAfter) ? now : mark.outage_ended_at

/** Notes that the service could commit now, and whether an outage ended with it. */
export const leaveMark =
  (policy: PolicyOptions): Command<void> =>
  (workspace, now) =>
    (function* () {
      yield* ensure(workspace, { mark: true })
      const mark = workspace.marks.get("service")
      workspace.marks.put({
        name: "service",
        // Replicas' clocks differ by a little; the mark never goes back.
        marked_at: mark === undefined ? now : Instant.max(mark.marked_at, now),
        outage_ended_at: mark && outageEnd(mark, now, policy),
      })
    })()
