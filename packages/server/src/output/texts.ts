import * as Instant from "@tocsin/contract/formats/Instant"
import { largestUnits } from "@tocsin/contract/formats/durationMillis"
import { zonedText } from "@tocsin/contract/formats/zonedText"
import type { Labels } from "@tocsin/contract/labels/Labels"
import type { CheckedLine } from "@tocsin/contract/publicPages/CheckedLine"
import { plainLine } from "@tocsin/contract/formats/plainLine"
import { displayWidth } from "effect/cli/CliOutput"

/** More names of checks would fill the terminal; `--json` has all of them. */
const MOST_NAMED = 10

/** Each line of the public pages of a policy, with its checks. */
export const linesText = (lines: ReadonlyArray<CheckedLine> = []): string =>
  lines
    .map(({ checks, line, page }) => {
      const names = checks.slice(0, MOST_NAMED).map(({ agent_id, check_id }) => `${agent_id}/${check_id}`)
      const more = checks.length > MOST_NAMED ? [`${checks.length - MOST_NAMED} more`] : []
      return `${page}/${line} shows ${[...names, ...more].join(", ") || "no check"}\n`
    })
    .join("")

/** A time in its largest unit, or its `most` largest: `3m`, `2d 4h`. */
export const spanText = (seconds: number, most = 1): string =>
  largestUnits(seconds, most)
    .map(({ count, unit }) => `${count}${unit}`)
    .join(" ") || "0s"

/** The age of an instant in its largest unit: `3m ago`; of one in the future in two: `in 4m 59s`; empty without one. */
export const ageText = (instant: Instant.Instant | null | undefined, now: Instant.Instant): string => {
  if (instant === null || instant === undefined) return ""
  const seconds = Math.trunc(Instant.secondsBetween(instant, now))
  return seconds < 0 ? `in ${spanText(-seconds, 2)}` : `${spanText(seconds)} ago`
}

/** A text whose times have no microseconds. */
export const withoutMicros = (text: string): string => text.replaceAll(/(:\d\d\.\d{3})\d{3}Z/g, "$1Z")

/** The time zone of this machine, in which commands print times (TZ, or `--utc`). */
export const machineZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone

const UTC = /^(?:Etc\/)?(?:UTC|UCT|Universal|Zulu)$/u

/** An instant by the clock of a zone; in UTC, to the millisecond as the API has it. Empty without one. */
export const timeText = (instant: Instant.Instant | null | undefined, tz: string = machineZone()): string => {
  if (instant === null || instant === undefined) return ""
  return UTC.test(tz) ? withoutMicros(Instant.format(instant)) : zonedText(instant, tz)
}

/** Labels for people: `env=prod team=db`. */
export const labelsText = (labels: Labels = {}): string =>
  Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(" ")

/** A count for people: `2,000`. */
export const countText = (count: number): string => count.toLocaleString("en-US")

/** A count of things: `1 agent`, `2,000 agents`. */
export const plural = (count: number, of: string): string =>
  `${countText(count)} ${of}${count === 1 ? "" : "s"}`

/** The parts of a text for people that are not empty, with a line between them. */
export const sectionsText = (sections: ReadonlyArray<string>): string =>
  sections.filter((section) => section !== "").join("\n")

/** DEL, the C1 controls, separators and bidirectional overrides: JSON admits them unescaped, but terminals act on them. */
const TERMINAL_CONTROLS = /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

const INDENT = 2

/**
 * A value as one line of JSON, or indented for a person. Fields keep their names, which are those
 * of the API; a bigint is an instant.
 */
export const jsonText = (value: unknown, isForPerson = false): string =>
  JSON.stringify(
    value,
    (_, field: unknown) => (typeof field === "bigint" ? Instant.format(Instant.fromMicros(field)) : field),
    isForPerson ? INDENT : undefined,
  ).replace(TERMINAL_CONTROLS, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`)

/** Removes user and password from addresses, which people put on command lines. */
export const withoutSecrets = (text: string): string => text.replace(/:\/\/[^\s/@"]*@/g, "://…@")

/** The line of a command that gave something a title, or took that of an operator back. */
export const titledText = (name: string, title: string | null): string =>
  title === null ? `${name}: has no title of an operator\n` : `${name}: is called ${title}\n`

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
