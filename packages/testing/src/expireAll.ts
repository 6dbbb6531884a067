import * as Instant from "@tocsin/contract/Instant"
import type { Storage, StorageError } from "@tocsin/core/ports/Storage"
import type { RetentionPiece } from "@tocsin/core/retention/retentionPiece"
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

/** One piece of removing the rows of deleted agents. Returns how many it removed. */
export const purge = (storage: Storage["Service"], limit: number): Effect.Effect<number, StorageError> => {
  const before = Instant.fromMicros(0n)
  const piece = storage.expire({ rule: "deleted_agents", before, after: undefined, limit })
  return Effect.map(piece, ({ removed }) => removed)
}
