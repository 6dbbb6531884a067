import { Context, Effect } from "effect"
import type { ValidationError } from "@tocsin/contract/formats/Errors"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Storage, StorageError } from "../../ports/Storage.ts"
import { decodeCursor, encodeCursor } from "./Cursor.ts"
import {
  type ListName,
  type ListQuery,
  type ListRows,
  type ListSort,
  type PageRequest,
  type Position,
} from "../../../lists/ListDefinitions.ts"

/** How much one piece of background work takes; the same for all work, so that a test can make pieces small. */
export const PieceSizes = Context.Reference<{
  /** Rows: concurrent ingestion waits for milliseconds, and goes first between pieces. */
  readonly rows: number
  /** Incidents that are evaluated: each is locked with its outbox. */
  readonly incidents: number
}>("@tocsin/core/engine/lists/PieceSizes", { defaultValue: () => ({ rows: 500, incidents: 100 }) })

/** The shared list parameters (docs/rules.md#lists). */
export interface PageParameters {
  readonly cursor?: string | undefined
  readonly back?: boolean | undefined
  readonly limit: number
}

/** One page of rows with the cursors of its neighbours; `null` if there is none. */
export interface Page<Row> {
  readonly items: ReadonlyArray<Row>
  readonly next_cursor: string | null
  readonly prev_cursor: string | null
}

export const firstRows = <L extends ListName>(
  storage: Storage["Service"],
  query: ListQuery<L>,
  limit: number,
): Effect.Effect<ReadonlyArray<ListRows[L]>, StorageError> =>
  storage.page({ ...query, from: undefined, isBackward: false, limit })

/** Before all IDs. */
const FIRST_ID = "-"

/** Where lists by agent begin at an agent. */
export const startAt = (
  list: { [L in ListName]: "agent_id" extends ListSort<L> ? L : never }[ListName],
  agentId: AgentId | undefined,
): Position | undefined =>
  agentId === undefined
    ? undefined
    : { values: list === "agents" ? [agentId] : [agentId, FIRST_ID], isInclusive: true }

const BY_AGENT = { filter: {}, sort: "agent_id", direction: "asc" } as const

export const ALL_AGENTS = { ...BY_AGENT, list: "agents" } as const satisfies ListQuery<"agents">

export const ALL_CHECKS = { ...BY_AGENT, list: "checks" } as const satisfies ListQuery<"checks">

export const OPEN_INCIDENTS = {
  list: "incidents",
  filter: { state: "open" },
  sort: "opened_at",
  direction: "asc",
} as const satisfies ListQuery<"incidents">

export const PENDING_FIRINGS = {
  list: "outbox",
  filter: { state: "pending", event_type: "firing" },
  sort: "created_at",
  direction: "asc",
} as const satisfies ListQuery<"outbox">

/** Reads pages of a list, or of more rows in its order. */
export interface Pages<L extends ListName, Row = ListRows[L]> extends Pick<Storage["Service"], "orderOf"> {
  readonly page: (request: PageRequest<L>) => Effect.Effect<ReadonlyArray<Row>, StorageError>
}

const positionAfter = <L extends ListName>(
  { orderOf }: Pick<Storage["Service"], "orderOf">,
  { list, sort }: ListQuery<L>,
  row: Partial<ListRows[L]>,
): Position => ({
  // Each row of a list has the columns of its order.
  values: orderOf(list, sort).map((column) => column.of(row as ListRows[L])),
  isInclusive: false,
})

interface Piece<Row> {
  readonly rows: ReadonlyArray<Row>
  readonly next: Position | undefined
}

/** Reads a piece of a list, and where the next one starts; absent at the end. */
const readPiece = Effect.fnUntraced(function* <L extends ListName, Row extends Partial<ListRows[L]>>(
  storage: Pages<L, Row>,
  query: ListQuery<L>,
  { from, limit }: Pick<PageRequest<L>, "from" | "limit">,
): Effect.fn.Return<Piece<Row>, StorageError> {
  const rows = yield* storage.page({ ...query, from, isBackward: false, limit })
  const last = rows.at(-1)
  return {
    rows,
    next: last === undefined || rows.length < limit ? undefined : positionAfter(storage, query, last),
  }
})

/** As {@link eachPage}, of rows in the order of a list. */
export const eachPageOf = Effect.fnUntraced(function* <L extends ListName, Row extends Partial<ListRows[L]>>(
  storage: Pages<L, Row>,
  query: ListQuery<L>,
  use: (rows: ReadonlyArray<Row>) => Effect.Effect<boolean | void, StorageError> | boolean | void,
): Effect.fn.Return<void, StorageError> {
  const { rows: limit } = yield* PieceSizes
  let from: Position | undefined
  do {
    const piece: Piece<Row> = yield* readPiece(storage, query, { from, limit })
    const used = use(piece.rows)
    if ((Effect.isEffect(used) ? yield* used : used) === false) return
    from = piece.next
    if (from !== undefined) yield* Effect.yieldNow
  } while (from !== undefined)
})

/** Reads a list in pieces, to its end or until `use` returns false. Between two, requests are answered. */
export const eachPage: <L extends ListName>(
  ...of: Parameters<typeof eachPageOf<L, ListRows[L]>>
) => Effect.Effect<void, StorageError> = (...of) => eachPageOf(...of)

/** A storage as readers of lists need it. */
export type ListReads = Pick<Storage["Service"], "orderOf" | "page">

/** Reads pages whose filter speaks of a moment, to which no cursor is bound. */
export const pagesAt = ({ orderOf, page }: ListReads, at: Instant.Instant): ListReads => ({
  orderOf,
  page: (request) => page({ ...request, filter: { ...request.filter, at } }),
})

/** Rows that a search reads at a time: some milliseconds in which no other request is answered. */
const SEARCHED_TOGETHER = 500

/** Pages of the rows of a list that match. They are read in pieces: between two, requests are answered. */
export const matchingPages = <
  L extends ListName,
  Row extends Partial<ListRows[L]> = ListRows[L],
  Found = Row,
>(
  storage: Pages<L, Row>,
  matching: (rows: ReadonlyArray<Row>) => Effect.Effect<ReadonlyArray<Found>, StorageError>,
): Pages<L, Found> => ({
  orderOf: storage.orderOf,
  page: Effect.fnUntraced(function* (request: PageRequest<L>) {
    const found: Array<Found> = []
    // Where most rows match, the first piece is enough.
    let piece = Math.min(request.limit, SEARCHED_TOGETHER)
    let from = request.from
    for (;;) {
      const rows = yield* storage.page({ ...request, from, limit: piece })
      found.push(...(yield* matching(rows)))
      const last = rows.at(-1)
      if (last === undefined || rows.length < piece || found.length >= request.limit)
        return found.slice(0, request.limit)
      from = positionAfter(storage, request, last)
      piece = SEARCHED_TOGETHER
      yield* Effect.yieldNow
    }
  }),
})

/** As {@link readPage}, of rows in the order of a list. */
export const readPageOf = Effect.fnUntraced(function* <L extends ListName, Row extends Partial<ListRows[L]>>(
  storage: Pages<L, Row>,
  sha256: (text: string) => string,
  query: ListQuery<L>,
  { cursor, back, limit }: PageParameters,
  /** Where the list begins, if not with its first row. */
  start?: Position,
): Effect.fn.Return<Page<Row>, ValidationError | StorageError> {
  const isBackward = back === true && cursor !== undefined
  const side = back === true ? "prev" : "next"
  const from =
    cursor === undefined
      ? start
      : yield* Effect.fromResult(
          decodeCursor(query, storage.orderOf(query.list, query.sort), side, cursor, sha256),
        )
  const found = yield* storage.page({ ...query, from, isBackward, limit: limit + 1 })
  const hasMore = found.length > limit
  const nearest = found.slice(0, limit)
  const items = isBackward ? nearest.toReversed() : nearest
  const at = (row: Row | undefined): Position | undefined =>
    // An empty page leads back to where it was requested, that place included.
    row === undefined
      ? from && { values: from.values, isInclusive: !from.isInclusive }
      : positionAfter(storage, query, row)
  const cursorAt = (cursorSide: "next" | "prev", position: Position | undefined) =>
    position === undefined ? null : encodeCursor(query, cursorSide, position, sha256)
  const hasNext = isBackward || hasMore
  const hasPrevious = isBackward ? hasMore : from !== undefined
  return {
    items,
    next_cursor: hasNext ? cursorAt("next", at(items.at(-1))) : null,
    prev_cursor: hasPrevious ? cursorAt("prev", at(items[0])) : null,
  }
})

/**
 * Reads one page of a list, and one row more to see whether another page follows. In the other
 * direction there is a page whenever a cursor led here; `back=true` without a cursor is the first
 * page (docs/rules.md#lists).
 */
export const readPage: <L extends ListName>(
  ...of: Parameters<typeof readPageOf<L, ListRows[L]>>
) => Effect.Effect<Page<ListRows[L]>, ValidationError | StorageError> = (...of) => readPageOf(...of)

/** Reads pages of lists, each row as it is shown at that moment. */
export const pageReader =
  (storage: ListReads, sha256: (text: string) => string) =>
  <L extends ListName, Item>(
    query: ListQuery<L>,
    parameters: PageParameters,
    toItem: (row: ListRows[L], now: Instant.Instant) => Item,
  ) =>
    Effect.zipWith(readPage(storage, sha256, query, parameters), Instant.now, (page, now) => ({
      ...page,
      items: page.items.map((row) => toItem(row, now)),
    }))

interface PassOptions<L extends ListName> {
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
    const { next, rows } = yield* readPiece<L, ListRows[L]>(storage, query, { ...pass, limit })
    yield* evaluate(rows)
    pass = next && { from: next }
    if (pass === undefined && (yield* begin)) pass = { from: undefined }
    return pass !== undefined
  })
}
