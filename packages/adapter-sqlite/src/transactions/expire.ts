import type { RetentionBounds, StorageError } from "@tocsin/core/ports/Storage"
import { Effect } from "effect"
import type { Tables } from "../rows/Tables.ts"
import type { GroupCommit } from "./GroupCommit.ts"

/** Removes at most `limit` rows that have outlived their retention, in transactions that look at no more; see `Storage.expire`. */
export const expire = Effect.fnUntraced(function* (
  { commits, tables }: { readonly commits: GroupCommit; readonly tables: Tables },
  before: RetentionBounds,
  limit: number,
): Effect.fn.Return<number, StorageError> {
  const { history } = before
  let left = limit
  while (history !== undefined && left > 0) {
    const asked = left
    const remove = () => tables.expired.removeHistory(history, asked)
    const { found, removed } = yield* commits.submit(remove, { isAlone: true })
    left -= removed
    if (found < asked) break
  }
  const rest = left
  if (rest === 0) return limit
  const others = yield* commits.submit(() => tables.expired.removeOthers(before, rest), { isAlone: true })
  return limit - rest + others
})
