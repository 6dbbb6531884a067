import { csvLines } from "@tocsin/contract/formats/csvText"
import { MAX_LIMIT } from "@tocsin/contract/v1/Parameters"
import type { Page, PageParameters } from "@tocsin/core/kernel/engine/lists/readPage"
import { Effect, Option, Stream } from "effect"
import { Output } from "./Output.ts"
import { type Column, jsonText, makeTable, type Table } from "./texts.ts"

/** How much of a list to show, and how. */
export interface ListOptions {
  readonly json: boolean
  readonly csv: boolean
  /** Ignores the limit. */
  readonly all: boolean
  readonly limit: number | undefined
}

const USUAL_LIMIT = 100

interface Further {
  readonly answer: object
  readonly text: string
}

export interface ShownList<Item, E, R> {
  readonly items: Stream.Stream<Item, E, R>
  readonly columns: ReadonlyArray<Column<Item>>
  readonly of: string
  /** Its name where it is empty, if that is less than `of`. */
  readonly none?: string
  /** Its columns as CSV: see `csvText`. */
  readonly csv: string
  /** Follows the rows, but in CSV: fields of the JSON, and text. */
  readonly further?: Effect.Effect<Further, E, Output | R>
}

type Described<Item> = Pick<ShownList<Item, never, never>, "columns" | "csv" | "none" | "of">

/** All items of a list, read page by page. */
export const itemsOf = <Item, E, R>(
  page: (parameters: PageParameters) => Effect.Effect<Page<Item>, E, R>,
): Stream.Stream<Item, E, R> =>
  Stream.paginate(undefined as string | undefined, (cursor) =>
    Effect.map(
      page({ cursor, limit: MAX_LIMIT }),
      ({ items, next_cursor }) => [items, Option.fromNullOr(next_cursor)] as const,
    ),
  )

type OutputError = Effect.Error<ReturnType<Output["Service"]["write"]>>

interface Writer<Item> {
  readonly rows: (items: ReadonlyArray<Item>) => Effect.Effect<void, OutputError>
  readonly end: (hasMore: boolean, further: Further | undefined) => Effect.Effect<void, OutputError>
}

/** `{"items": […], "has_more": false}`, written as rows arrive, so that a list of any length fits. */
const jsonWriter = <Item>(output: Output["Service"], _: Described<Item>): Writer<Item> => {
  let isFirst = true
  const isForPerson = output.columns !== undefined
  return {
    rows: (items) => {
      const text = items.map((item) => jsonText(item, isForPerson)).join(",\n")
      const opening = isFirst ? '{"items":[\n' : ",\n"
      isFirst = false
      return output.write(opening + text)
    },
    end: (hasMore, further) => {
      const others = further === undefined ? "}" : `,${jsonText(further.answer, isForPerson).slice(1)}`
      return output.write(`${isFirst ? '{"items":[' : "\n"}],"has_more":${hasMore}${others}\n`)
    },
  }
}

const noteMore = (output: Output["Service"], count: number, of: string) =>
  output.note(`${count} ${of} shown; for more, use --all or --limit\n`)

const csvWriter = <Item>(output: Output["Service"], { csv, of }: Described<Item>): Writer<Item> => {
  const { head, rows } = csvLines(csv)
  let count = 0
  return {
    rows: (items) => {
      const opening = count === 0 ? head : ""
      count += items.length
      // As the API writes them.
      const shown: ReadonlyArray<unknown> = items.map((item) => JSON.parse(jsonText(item, false)))
      return output.write(opening + rows(shown))
    },
    end: (hasMore) =>
      count === 0 ? output.write(head) : hasMore ? noteMore(output, count, of) : Effect.void,
  }
}

const tableWriter = <Item>(
  output: Output["Service"],
  { columns, of, none = of }: Described<Item>,
): Writer<Item> => {
  let table: Table<Item> | undefined
  let count = 0
  return {
    rows: (items) => {
      const header = table === undefined
      table ??= makeTable(columns, items, output)
      count += items.length
      return output.write((header ? table.header : "") + table.lines(items))
    },
    end: (hasMore, further) => {
      const rest =
        further === undefined || further.text === ""
          ? Effect.void
          : output.write(count === 0 ? further.text : `\n${further.text}`)
      if (count === 0) return Effect.andThen(output.note(`no ${none}\n`), rest)
      return hasMore ? Effect.andThen(rest, noteMore(output, count, of)) : rest
    },
  }
}

/** Shows a list as a table or as JSON, and keeps no row longer than it takes to write it. */
export const writeList = Effect.fnUntraced(function* <Item, E, R>(
  list: ShownList<Item, E, R>,
  options: ListOptions,
): Effect.fn.Return<void, E | OutputError, R | Output> {
  const output = yield* Output
  const { all, csv, json } = options
  const writer: Writer<Item> = (csv ? csvWriter : json ? jsonWriter : tableWriter)(output, list)
  const limit = all
    ? Number.POSITIVE_INFINITY
    : (options.limit ?? (csv ? Number.POSITIVE_INFINITY : USUAL_LIMIT))
  let found = 0
  // One row beyond the limit shows whether there are more.
  yield* Stream.runForEachArray(Stream.take(list.items, limit + 1), (items) => {
    const shown = items.slice(0, limit - found)
    found += items.length
    return shown.length === 0 ? Effect.void : writer.rows(shown)
  })
  const further = csv || list.further === undefined ? undefined : yield* list.further
  yield* writer.end(found > limit, further)
})
