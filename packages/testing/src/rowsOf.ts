import {
  type ListFilters,
  type ListName,
  sortsOf,
  type ListQuery,
  type ListRows,
  type ListSort,
} from "@tocsin/core/lists/ListDefinitions"
import type { Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
import type { Effect } from "effect"

/** The usual order of a list: the newest first where it is by time. */
export const usualQuery = <L extends ListName>(list: L): ListQuery<L> => {
  const [first = ""] = list === "outbox" ? ["updated_at"] : sortsOf(list)
  const direction = first === "name" || first === "agent_id" ? "asc" : "desc"
  // It is a sort of the list.
  return { list, filter: {}, sort: first as ListSort<L>, direction }
}

/** More than any test stores. */
const EVERYTHING = 1_000_000

/** All rows of a list that a filter leaves, in the list's usual order. */
export const rowsOf = <L extends ListName>(
  { storage }: { readonly storage: Storage["Service"] },
  list: L,
  filter?: ListFilters[L],
): Effect.Effect<ReadonlyArray<ListRows[L]>, StorageError> => {
  const query = usualQuery(list)
  return storage.page({
    ...query,
    filter: filter ?? query.filter,
    from: undefined,
    isBackward: false,
    limit: EVERYTHING,
  })
}
