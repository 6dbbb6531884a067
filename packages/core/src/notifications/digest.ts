import { Duration, Effect } from "effect"
import type { Commits } from "../engine/commits/Commits.ts"
import * as Instant from "../contract/Instant.ts"
import type { Notifier } from "../ports/Notifiers.ts"
import type { ClaimedItem } from "./claimOutbox.ts"
import { resultOf } from "./resultOf.ts"
import type { AttemptResult } from "./settleAttempts.ts"

/** The claimed items of one type together, since a message reports one of them. */
export const digestsOf = (items: ReadonlyArray<ClaimedItem>): ReadonlyArray<ReadonlyArray<ClaimedItem>> =>
  (["firing", "resolved"] as const)
    .map((type) => items.filter(({ notification }) => notification.event_type === type))
    .filter((ofType) => ofType.length > 0)

interface DigestInput {
  /** Absent if a reload has replaced the receiver by one that takes single messages only. */
  readonly sendDigest: Notifier["sendDigest"]
  /** Settles all items by the answer to their message. */
  readonly endDigest: (result: AttemptResult) => Effect.Effect<unknown, never, Commits>
  /** Attempts one item, and settles it. */
  readonly attempt: (item: ClaimedItem, beginBy?: Instant.Instant) => Effect.Effect<unknown, never, Commits>
  readonly end: (item: ClaimedItem, result: AttemptResult) => Effect.Effect<unknown, never, Commits>
  readonly lease: Duration.Duration
  /** How many items are attempted or settled at the same time. */
  readonly concurrency: number
}

/**
 * Attempts items of one type as one message; each settles by its answer. If the receiver refuses the
 * message for good, one item may be the reason: each is sent singly (docs/rules.md#digests).
 */
export const digestAttempt = Effect.fnUntraced(function* (
  items: ReadonlyArray<ClaimedItem>,
  { attempt, concurrency, end, endDigest, lease, sendDigest }: DigestInput,
) {
  const each = (act: (item: ClaimedItem) => Effect.Effect<unknown, never, Commits>) =>
    Effect.forEach(items, act, { concurrency, discard: true })
  if (sendDigest === undefined || items.length === 1) return yield* each((item) => attempt(item))
  const startedAt = yield* Instant.now
  const result = yield* resultOf(sendDigest(items.map(({ notification }) => notification)))
  if (result.outcome !== "refused") return yield* endDigest(result)
  // Later attempts could outlast their lease, and another replica would repeat them.
  const until = Instant.plus(startedAt, Duration.divideUnsafe(lease, 2))
  return yield* each((item) =>
    Effect.flatMap(Instant.now, (now) =>
      now < until ? attempt(item, until) : end(item, { outcome: "released" }),
    ),
  )
})
