import * as Instant from "../contract/Instant.ts"
import type { OutboxRecord } from "./OutboxRecord.ts"
import { MAX_AGE, MAX_ATTEMPTS } from "./retrySchedule.ts"

type Attempted = Pick<OutboxRecord, "attempts" | "created_at" | "counts_from">

/** Whether an attempt was ever made: a replay sets the attempts back, and counts its age from a later moment. */
export const wasAttempted = ({ attempts, created_at, counts_from }: Attempted): boolean =>
  attempts > 0 || counts_from > created_at

/** Whether the bounds on attempts and age still admit another attempt. */
export const mayRetry = (
  { attempts, counts_from }: Pick<OutboxRecord, "attempts" | "counts_from">,
  now: Instant.Instant,
): boolean => attempts < MAX_ATTEMPTS && now < Instant.plus(counts_from, MAX_AGE)

/** Whether its receiver refused it for good. What ended at the bounds instead may have arrived unnoticed. */
const wasRefused = (item: OutboxRecord): boolean => item.state === "failed" && mayRetry(item, item.updated_at)

/** Whether the receiver of a notification may know of it, or is about to: it was attempted and never refused for good. */
export const mayArrive = (item: OutboxRecord): boolean =>
  item.state !== "discarded" && wasAttempted(item) && !wasRefused(item)
