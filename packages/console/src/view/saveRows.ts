import { csvColumns, csvLines } from "@tocsin/contract/formats/csvText"
import { countText } from "../format/times.ts"
import type { List } from "../state/lists.ts"
import type { Message } from "../state/useAction.ts"

export interface Exported {
  readonly name: string
  /** Columns as CSV, or the name of a list that has them: without it, `name`. */
  readonly columns?: string
  /** Read one after another, each to its end. */
  readonly lists: ReadonlyArray<Pick<List<object>, "read">>
}

const COLUMNS: Readonly<Record<string, string>> = csvColumns

const jsonRows = (items: ReadonlyArray<unknown>): string =>
  items.map((item) => JSON.stringify(item)).join(",\n")

/** How a file begins, the text of some items in it, what is between these, and how it ends. */
const formats = {
  csv: (columns: string) => ({ ...csvLines(columns), between: "", end: "" }),
  json: () => ({ head: '{"items":[\n', rows: jsonRows, between: ",\n", end: "\n]}\n" }),
}

/** How long a browser may take to begin to save a file. */
const SAVED_MILLIS = 60_000

/** Saves lists whole. The browser may keep on disk what was read: this page has one answer at a time. */
export const saveRows = async (
  { name, columns = name, lists }: Exported,
  kind: keyof typeof formats,
): Promise<Message> => {
  const { head, rows, between, end } = formats[kind](COLUMNS[columns] ?? columns)
  const parts = [new Blob([head])]
  let count = 0
  for (const { read } of lists) {
    let cursor: string | undefined
    do {
      const { items, next_cursor } = await read(cursor)
      if (items.length > 0) parts.push(new Blob([count === 0 ? "" : between, rows(items)]))
      count += items.length
      cursor = next_cursor ?? undefined
    } while (cursor !== undefined)
  }
  const link = document.createElement("a")
  link.download = `${name}.${kind}`
  link.href = URL.createObjectURL(new Blob([...parts, end], { type: `text/${kind};charset=utf-8` }))
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), SAVED_MILLIS)
  return { text: `Exported ${countText(count, "row")}` }
}
