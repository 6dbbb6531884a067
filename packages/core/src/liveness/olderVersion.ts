import { Duration } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import type { MarkRecord } from "../model/MarkRecord.ts"

/** Servers leave a mark every 5 s at the latest: after three of these, one counts as gone. */
const OLDER_GONE_AFTER = Duration.seconds(15)

/**
 * When a server of an older version last left a mark. Such a server keeps no row of its own, but it
 * writes the mark without its signature.
 */
export const olderSeenAt = (mark: MarkRecord | undefined): Instant.Instant | undefined =>
  mark === undefined || mark.signed_at === mark.marked_at ? mark?.older_seen_at : mark.marked_at

/** Whether a server of an older version is running on the same storage (docs/rules.md#older-versions). */
export const isOlderRunning = (mark: MarkRecord | undefined, now: Instant.Instant): boolean => {
  const seenAt = olderSeenAt(mark)
  return (
    seenAt !== undefined &&
    seenAt > Instant.minus(now, OLDER_GONE_AFTER) &&
    seenAt < Instant.plus(now, OLDER_GONE_AFTER)
  )
}
