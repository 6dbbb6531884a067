import { plainLine } from "@tocsin/contract/formats/plainLine"
import { displayWidth } from "effect/cli/CliOutput"

type Colour = "green" | "yellow" | "red" | "magenta" | "dim"

const CODES: Readonly<Record<Colour, number>> = { green: 32, yellow: 33, red: 31, magenta: 35, dim: 2 }

/** `text` in a colour of the terminal. */
export const paint = (text: string, colour: Colour): string => `\u001B[${CODES[colour]}m${text}\u001B[0m`

const WORDS: Readonly<Record<Colour, ReadonlyArray<string>>> = {
  green: ["alive", "ok", "sent"],
  yellow: ["stale", "warning", "retry", "pending", "attention"],
  red: ["dead", "critical", "failed"],
  magenta: ["unknown"],
  dim: ["resolved", "discarded"],
}

const COLOURS = new Map(
  Object.entries(WORDS).flatMap(([colour, words]) => words.map((word) => [word, colour as Colour] as const)),
)

/** The colour of a state or severity; `undefined` for words that need no attention. */
export const colourOf = (word: string): Colour | undefined => COLOURS.get(word)

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => string
  readonly align?: "right"
  /** Whether to paint states in their colours. */
  readonly isState?: true
  /** Whether it is left out where none of the first rows has a value. */
  readonly isOptional?: true
  /** Width to which the column may be cut on a narrow terminal; without it, it is never cut. */
  readonly least?: number
}

export interface TableStyle {
  /** Columns of the terminal; `undefined` cuts nothing. */
  readonly columns: number | undefined
  readonly hasColour: boolean
}

const GAP = "  "
const ASCII = /^[\x20-\x7e]*$/

const widthOf = (text: string): number => (ASCII.test(text) ? text.length : displayWidth(text))

/** `text` cut to `width` columns of a terminal, with an ellipsis. */
export const cutToWidth = (text: string, width: number): string => {
  if (widthOf(text) <= width) return text
  let cut = ""
  let taken = 1
  for (const character of text) {
    taken += widthOf(character)
    if (taken > width) break
    cut += character
  }
  return `${cut}…`
}

const sum = (widths: ReadonlyArray<number>): number => widths.reduce((total, next) => total + next, 0)

/** Narrows the widest column that may be cut, until all fit or none can be cut further. */
const shrink = <Row>(
  widths: ReadonlyArray<number>,
  columns: ReadonlyArray<Column<Row>>,
  available: number,
): ReadonlyArray<number> => {
  const shrunk = [...widths]
  for (let excess = sum(shrunk) - available; excess > 0;) {
    const room = shrunk.map((width, index) => width - Math.min(width, columns[index]?.least ?? width))
    const widest = room.reduce(
      (best, left, index) => (left > 0 && (shrunk[index] ?? 0) > (shrunk[best] ?? 0) ? index : best),
      room.findIndex((left) => left > 0),
    )
    if (widest === -1) break
    const taken = Math.min(excess, room[widest] ?? 0)
    shrunk[widest] = (shrunk[widest] ?? 0) - taken
    excess -= taken
  }
  return shrunk
}

export interface Table<Row> {
  readonly header: string
  /** A line for each row, with its line end. */
  readonly lines: (rows: ReadonlyArray<Row>) => string
}

/**
 * A table whose columns are as wide as the `first` rows need, or as the terminal allows. Cells may
 * be outputs of checks: each is shown as one line without control characters.
 */
export const makeTable = <Row>(
  all: ReadonlyArray<Column<Row>>,
  first: ReadonlyArray<Row>,
  style: TableStyle,
): Table<Row> => {
  const textOf = (column: Column<Row>, row: Row) => plainLine(column.cell(row))
  const columns = all.filter(
    (column) => column.isOptional !== true || first.some((row) => textOf(column, row) !== ""),
  )
  const natural = columns.map((column) =>
    first.reduce((widest, row) => Math.max(widest, widthOf(textOf(column, row))), widthOf(column.title)),
  )
  const gaps = GAP.length * (columns.length - 1)
  const widths = style.columns === undefined ? natural : shrink(natural, columns, style.columns - gaps)
  const fitted = (text: string, index: number) =>
    style.columns === undefined ? text : cutToWidth(text, widths[index] ?? 0)
  const padded = (text: string, shown: string, index: number) => {
    const padding = " ".repeat(Math.max(0, (widths[index] ?? 0) - widthOf(text)))
    if (columns[index]?.align === "right") return padding + shown
    // Without trailing spaces.
    return index === columns.length - 1 ? shown : shown + padding
  }
  const line = (row: Row): string =>
    columns
      .map((column, index) => {
        const text = fitted(textOf(column, row), index)
        const colour = style.hasColour && column.isState === true ? colourOf(text) : undefined
        return padded(text, colour === undefined ? text : paint(text, colour), index)
      })
      .join(GAP)
  const titles = columns.map(({ title }, index) => padded(title, title, index)).join(GAP)
  return {
    header: `${(style.hasColour ? paint(titles, "dim") : titles).trimEnd()}\n`,
    lines: (rows) => rows.map((row) => `${line(row).trimEnd()}\n`).join(""),
  }
}

export const tableText = <Row>(
  columns: ReadonlyArray<Column<Row>>,
  rows: ReadonlyArray<Row>,
  style: TableStyle,
): string => {
  const table = makeTable(columns, rows, style)
  return table.header + table.lines(rows)
}
