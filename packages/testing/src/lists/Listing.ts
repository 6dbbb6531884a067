import { createHash } from "node:crypto"
import { assert } from "@effect/vitest"
import type { ValidationError } from "@tocsin/contract/formats/Errors"
import { type ListName, type ListQuery, type ListRows, listShape } from "@tocsin/core/lists/ListDefinitions"
import { type Page, type PageParameters, readPage } from "@tocsin/core/kernel/engine/lists/readPage"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"
import type { Replica } from "../Replica.ts"

/** A query of a list whose rows are compared by name, so that all lists are walked alike. */
export interface Listing {
  /** For messages. */
  readonly text: string
  /** One page as operators get it. */
  readonly page: (
    replica: Replica,
    parameters: PageParameters,
  ) => Effect.Effect<Page<string>, ValidationError | StorageError>
  /** All rows, in one read. */
  readonly everything: (replica: Replica) => Effect.Effect<ReadonlyArray<string>, StorageError>
}

const EVERYTHING = 1_000_000

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")

/** Names that tell nothing of a storage; rows of the other lists have the names of their keys. */
const names: { readonly [L in ListName]?: (row: ListRows[L]) => string } = {
  checks: (row) => `${row.agent_id}/${row.check_id}`,
  overdue: (row) => `${row.agent_id}/${row.check_id}`,
  history: (row) => `${row.agent_id}/${row.event_id}`,
  blacklist: (row) => row.blacklist_id,
}

/** The {@link Listing} of a query. */
export const listing = <L extends ListName>(query: ListQuery<L>): Listing => {
  const { key } = listShape(query.list)
  const byKey = (row: ListRows[L]): string => key.map((column) => String(row[column])).join("/")
  const nameOf: (row: ListRows[L]) => string = names[query.list] ?? byKey
  return {
    text: JSON.stringify(query, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value)),
    page: ({ storage }, parameters) =>
      Effect.map(readPage(storage, sha256, query, parameters), (page) => ({
        ...page,
        items: page.items.map(nameOf),
      })),
    everything: ({ storage }) =>
      Effect.map(storage.page({ ...query, from: undefined, isBackward: false, limit: EVERYTHING }), (rows) =>
        rows.map(nameOf),
      ),
  }
}

interface WalkOptions {
  /** The size of each page; the first again after the last. */
  readonly limits: ReadonlyArray<number>
  /** An effect to run after the n-th page. */
  readonly after?: (n: number) => Effect.Effect<unknown, unknown>
}

/** Walks a list to its end and from there back to its start. Returns the rows met on each way, in the list's order. */
export const walk = Effect.fnUntraced(function* (
  replica: Replica,
  { page: read }: Listing,
  { limits, after = () => Effect.void }: WalkOptions,
) {
  let pages = 0
  const limit = () => limits[pages++ % limits.length] ?? 1
  const forward: Array<string> = []
  let page = yield* read(replica, { limit: limit() })
  assert.isNull(page.prev_cursor, "the first page has no page before it")
  forward.push(...page.items)
  while (page.next_cursor !== null) {
    yield* after(pages)
    page = yield* read(replica, { cursor: page.next_cursor, limit: limit() })
    forward.push(...page.items)
  }
  const backward = page.items.toReversed()
  while (page.prev_cursor !== null) {
    yield* after(pages)
    page = yield* read(replica, { cursor: page.prev_cursor, back: true, limit: limit() })
    backward.push(...page.items.toReversed())
  }
  return { forward, back: backward.toReversed() }
})
