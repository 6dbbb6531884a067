import { plainLine } from "@tocsin/adapter-notify/text/plainLine"
import { displayWidth } from "effect/cli/CliOutput"
import { colourOf, paint } from "./colours.ts"

/** One column of a table. */
export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => string
  readonly align?: "right"
  /** Whether states are painted in their colours. */
  readonly isState?: true
  /** May be cut down to so many characters where the table is wider than the terminal; otherwise it is never cut. */
  readonly least?: number
}

/** How a table is drawn. */
export interface TableStyle {
  /** Lines are cut to so many columns of a terminal; `undefined` cuts nothing. */
  readonly columns: number | undefined
  readonly hasColour: boolean
}

const GAP = "  "
const ASCII = /^[\x20-\x7e]*$/

const widthOf = (text: string): number => (ASCII.test(text) ? text.length : displayWidth(text))

/** `text` in at most `width` columns of a terminal, with an ellipsis where something is cut. */
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

const sum = (numbers: ReadonlyArray<number>): number => numbers.reduce((total, next) => total + next, 0)

/** Takes what is too much from the widest of the columns that may be cut, until all fits or none can give more. */
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

/** Draws rows in columns as wide as the first rows need: later ones may stick out, where nothing must be cut. */
export interface Table<Row> {
  readonly header: string
  /** A line for each row, each ended. */
  readonly lines: (rows: ReadonlyArray<Row>) => string
}

/**
 * Prepares a table: its columns are as wide as `first` rows need, cut where the terminal is narrower. What cells hold is
 * shown as one line without control characters, since outputs of checks are among them.
 */
export const makeTable = <Row>(
  columns: ReadonlyArray<Column<Row>>,
  first: ReadonlyArray<Row>,
  style: TableStyle,
): Table<Row> => {
  const textOf = (column: Column<Row>, row: Row) => plainLine(column.cell(row))
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
    // Nothing follows the last column, so that lines end where their text does.
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
