import { Effect } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { ListFilters, ListName, ListQuery, ListRows, ListSort } from "../../../lists/ListDefinitions.ts"
import { type ListReads, type PageParameters, pageReader, pagesAt } from "./readPage.ts"

type Narrowed<L extends ListName> = PageParameters & ListFilters[L]

export type Sorted<L extends ListName> = Narrowed<L> & {
  readonly sort: ListSort<L>
  readonly direction: "asc" | "desc"
}

/** The lists of planned rows. */
type PlannedName = {
  [L in ListName]: "created_at" extends ListSort<L> ? ("at" extends keyof ListFilters[L] ? L : never) : never
}[ListName]

/** Readers of pages of a list: in the asked order, in one order, or by the state at that moment. */
export const listReaders = (storage: ListReads, sha256: (text: string) => string) => {
  const page = pageReader(storage, sha256)
  const sorted =
    <L extends ListName, Item>(list: L, toItem: (row: ListRows[L], now: Instant.Instant) => Item) =>
    ({ back, cursor, direction, limit, sort, ...filter }: Sorted<L>) =>
      // The other parameters are those of the filter.
      page(
        { list, filter: filter as unknown as ListFilters[L], sort, direction },
        { back, cursor, limit },
        toItem,
      )
  const inOrder = <L extends ListName, Item>(
    list: L,
    order: Pick<Sorted<L>, "sort" | "direction">,
    toItem: (row: ListRows[L], now: Instant.Instant) => Item,
  ) => {
    const read = sorted(list, toItem)
    return (parameters: Narrowed<L>) => read({ ...parameters, ...order })
  }
  /** Lists planned rows by their state at the moment of the answer, the newest first. */
  const planned =
    <L extends PlannedName, Item>(list: L, toItem: (row: ListRows[L], now: Instant.Instant) => Item) =>
    ({ back, cursor, limit, ...filter }: PageParameters & Omit<ListFilters[L], "at">) =>
      Effect.flatMap(Instant.now, (now) =>
        pageReader(pagesAt(storage, now), sha256)<L, Item>(
          // The other parameters are those of the filter, and the lists have this order.
          { list, filter, sort: "created_at", direction: "desc" } as unknown as ListQuery<L>,
          { back, cursor, limit },
          toItem,
        ),
      )
  return { inOrder, planned, sorted }
}
