import * as Instant from "@tocsin/contract/formats/Instant"
import type { Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
import type { RetentionPiece } from "@tocsin/core/lists/retention/retentionPiece"
import { Effect } from "effect"

/** Runs a rule of retention to its end, piece by piece. Returns how many rows it removed. */
export const expireAll = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  rule: Omit<RetentionPiece, "after">,
): Effect.fn.Return<number, StorageError> {
  let removed = 0
  let after: string | undefined
  for (;;) {
    const result = yield* storage.expire({ ...rule, after })
    removed += result.removed
    if (!result.isMore) return removed
    after = result.after
  }
})

/**
 * Removes at most `limit` rows of deleted agents, in as many pieces as the storage takes. Returns how
 * many it removed.
 */
export const purge = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  limit: number,
): Effect.fn.Return<number, StorageError> {
  const before = Instant.fromMicros(0n)
  let removed = 0
  for (let isMore = true; isMore && removed < limit;) {
    const piece = { rule: "deleted_agents", before, after: undefined, limit: limit - removed } as const
    const result = yield* storage.expire(piece)
    removed += result.removed
    isMore = result.isMore
  }
  return removed
})
