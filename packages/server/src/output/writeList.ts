import type { Page, PageParameters } from "@tocsin/core/engine/lists/readPage"
import { Effect } from "effect"
import { jsonText } from "./jsonText.ts"
import { Output } from "./Output.ts"
import { type Column, makeTable, type Table } from "./makeTable.ts"

/** How much of a list is shown, and how. */
export interface ListOptions {
  readonly json: boolean
  /** To its end, whatever the limit. */
  readonly all: boolean
  readonly limit: number
}

/** A list to be shown. */
export interface ShownList<Item, E, R> {
  readonly page: (parameters: PageParameters) => Effect.Effect<Page<Item>, E, R>
  /** What is shown of it; all unless given. */
  readonly keep?: (item: Item) => boolean
  readonly columns: ReadonlyArray<Column<Item>>
  /** What it is a list of, in the plural. */
  readonly of: string
}

/** The largest page that the port promises to read at any depth without ado (docs/rules.md#lists). */
const LARGEST_PAGE = 500

/** Takes rows one page after the other. */
interface Writer<Item> {
  readonly rows: (items: ReadonlyArray<Item>) => Effect.Effect<void, OutputError>
  readonly end: (hasMore: boolean) => Effect.Effect<void, OutputError>
}

type OutputError = Effect.Error<ReturnType<Output["Service"]["write"]>>

/** `{"items": […], "has_more": false}`, written as the rows come, so that any number of them fits. */
const jsonWriter = <Item>(output: Output["Service"]): Writer<Item> => {
  let isFirst = true
  const isForPerson = output.columns !== undefined
  return {
    rows: (items) => {
      if (items.length === 0) return Effect.void
      const text = items.map((item) => jsonText(item, isForPerson)).join(",\n")
      const opening = isFirst ? '{"items":[\n' : ",\n"
      isFirst = false
      return output.write(opening + text)
    },
    end: (hasMore) => output.write(`${isFirst ? '{"items":[' : "\n"}],"has_more":${hasMore}}\n`),
  }
}

const tableWriter = <Item>(
  output: Output["Service"],
  { columns, of }: { readonly columns: ReadonlyArray<Column<Item>>; readonly of: string },
): Writer<Item> => {
  let table: Table<Item> | undefined
  let count = 0
  return {
    rows: (items) => {
      if (items.length === 0) return Effect.void
      const header = table === undefined
      table ??= makeTable(columns, items, output)
      count += items.length
      return output.write((header ? table.header : "") + table.lines(items))
    },
    end: (hasMore) => {
      if (count === 0) return output.note(`no ${of}\n`)
      return hasMore
        ? output.note(`${count} ${of} shown, and there are more: --all or --limit\n`)
        : Effect.void
    },
  }
}

/** Shows a list as a table or as JSON, page after page: nothing of it is kept longer than it takes to write it. */
export const writeList = Effect.fnUntraced(function* <Item, E, R>(
  list: ShownList<Item, E, R>,
  options: ListOptions,
): Effect.fn.Return<void, E | OutputError, R | Output> {
  const output = yield* Output
  const writer: Writer<Item> = options.json ? jsonWriter(output) : tableWriter(output, list)
  const wanted = options.all ? Number.POSITIVE_INFINITY : options.limit
  let shown = 0
  let cursor: string | undefined
  for (;;) {
    const room = wanted - shown
    // One row more than there is room for would tell of more rows; where all are kept, the cursor does.
    const limit = list.keep === undefined ? Math.min(LARGEST_PAGE, room) : LARGEST_PAGE
    const page: Page<Item> = yield* list.page({ limit, cursor })
    const kept = list.keep === undefined ? page.items : page.items.filter(list.keep)
    const taken = kept.slice(0, room)
    yield* writer.rows(taken)
    shown += taken.length
    const isFull = kept.length > room || (list.keep === undefined && shown === wanted)
    if (page.next_cursor === null || isFull) {
      return yield* writer.end(kept.length > room || page.next_cursor !== null)
    }
    cursor = page.next_cursor
  }
})

/** Shows rows that were read and ordered already, in the same two forms. */
export const writeRows = Effect.fnUntraced(function* <Item>(
  items: ReadonlyArray<Item>,
  list: Pick<ShownList<Item, never, never>, "columns" | "of">,
  options: ListOptions,
): Effect.fn.Return<void, OutputError, Output> {
  const output = yield* Output
  const writer: Writer<Item> = options.json ? jsonWriter(output) : tableWriter(output, list)
  const taken = options.all ? items : items.slice(0, options.limit)
  yield* writer.rows(taken)
  yield* writer.end(taken.length < items.length)
})
