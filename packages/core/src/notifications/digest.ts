import { Effect } from "effect"
import type { Commits } from "../engine/commits/Commits.ts"
import type { Notifier } from "../ports/Notifiers.ts"
import type { ClaimedItem } from "./claimOutbox.ts"
import { makeAttempt } from "./makeAttempt.ts"
import type { AttemptResult } from "./recordResults.ts"

/** The claimed items of one type together, since a message reports one of them. */
export const digestsOf = (items: ReadonlyArray<ClaimedItem>): ReadonlyArray<ReadonlyArray<ClaimedItem>> =>
  (["firing", "resolved"] as const)
    .map((type) => items.filter(({ notification }) => notification.event_type === type))
    .filter((ofType) => ofType.length > 0)

interface DigestInput {
  /** Absent if a reload has replaced the receiver by one that takes single messages only. */
  readonly sendDigest: Notifier["sendDigest"]
  /** Attempts one item, and settles it. */
  readonly attempt: (item: ClaimedItem) => Effect.Effect<unknown, never, Commits>
  /** Settles all items by the answer to their message. */
  readonly end: (result: AttemptResult) => Effect.Effect<unknown, never, Commits>
  /** Called before the items of a refused message are due again. */
  readonly onRefused: () => void
}

/**
 * Attempts items of one type as one message; each settles by its answer. If the receiver refuses the
 * message for good, one item may be the reason: they wait again as if it had not been sent, for the
 * caller to send each singly (docs/rules.md#digests).
 */
export const digestAttempt = Effect.fnUntraced(function* (
  items: ReadonlyArray<ClaimedItem>,
  { attempt, end, onRefused, sendDigest }: DigestInput,
) {
  const [first] = items
  if (first !== undefined && items.length === 1) return yield* attempt(first)
  const result =
    sendDigest === undefined
      ? undefined
      : yield* makeAttempt(sendDigest(items.map(({ notification }) => notification)))
  if (result !== undefined && result.outcome !== "refused") return yield* end(result)
  onRefused()
  return yield* end({ outcome: "unsent" })
})
