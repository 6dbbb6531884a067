import { Effect } from "effect"
import type { ListName, ListQuery, ListRows, Position } from "../../model/ListDefinitions.ts"
import type { Storage, StorageError } from "../../ports/Storage.ts"
import { readPiece } from "./readPage.ts"

interface PassOptions<L extends ListName> {
  /** Rows per piece. */
  readonly limit: number
  /** Whether a pass is due. It is asked between passes only. */
  readonly begin: Effect.Effect<boolean, StorageError>
  readonly evaluate: (rows: ReadonlyArray<ListRows[L]>) => Effect.Effect<void, StorageError>
}

/**
 * One piece of passes over a list; returns whether there may be more. A pass that has begun is finished,
 * also after a piece that failed, and `begin` is asked right behind it: a change meanwhile starts one more.
 */
export const passes = <L extends ListName>(
  storage: Storage["Service"],
  query: ListQuery<L>,
  { begin, limit, evaluate }: PassOptions<L>,
): Effect.Effect<boolean, StorageError> => {
  let pass: { readonly from: Position | undefined } | undefined
  return Effect.gen(function* () {
    if (pass === undefined && !(yield* begin)) return false
    pass ??= { from: undefined }
    const { next, rows } = yield* readPiece(storage, query, { ...pass, limit })
    yield* evaluate(rows)
    pass = next && { from: next }
    if (pass === undefined && (yield* begin)) pass = { from: undefined }
    return pass !== undefined
  })
}
