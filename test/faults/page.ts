import type { FaultKind } from "./allFaults.ts"
import type { Results, Row } from "./Results.ts"

const BEGIN = "<!-- npm run faults -- --write renews what follows -->"
const END = "<!-- the end of what it renews -->"

const SETUPS = { sqlite: "SQLite", postgres: "PostgreSQL", "three on postgres": "PostgreSQL × 3" } as const

const seconds = (millis: number | null): string =>
  millis === null ? "none" : `${(millis / 1000).toFixed(1)} s`

const COLUMNS: ReadonlyArray<readonly [heading: string, cellOf: (row: Row) => string]> = [
  ["fault", ({ fault }) => fault],
  ["storage", ({ setup }) => SETUPS[setup]],
  ["times", ({ rounds }) => String(rounds)],
  ["acknowledged", ({ acknowledged }) => String(acknowledged)],
  ["lost", ({ lost }) => String(lost)],
  ["duplicated", ({ duplicated }) => String(duplicated)],
  ["out of order", ({ outOfOrder }) => String(outOfOrder)],
  ["wrongly notified", ({ wronglyNotified }) => String(wronglyNotified)],
  ["sent again", ({ sentAgain }) => String(sentAgain)],
  ["worst recovery", ({ worstRecoveryMillis }) => seconds(worstRecoveryMillis)],
  ["longest wait", ({ longestWaitMillis }) => seconds(longestWaitMillis)],
]

const markdown = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const [heading = [], ...body] = rows
  return [heading, heading.map(() => "---"), ...body].map((cells) => `| ${cells.join(" | ")} |`).join("\n")
}

/** Rows as a table of Markdown. */
export const tableOf = (rows: ReadonlyArray<Row>): string =>
  markdown([
    COLUMNS.map(([heading]) => heading),
    ...rows.map((row) => COLUMNS.map(([, cellOf]) => cellOf(row))),
  ])

/** The values of a fault's storages in their order, or the one that all share. */
const shared = (cells: ReadonlyArray<string>): string =>
  new Set(cells).size === 1 ? cells.slice(0, 1).join() : cells.join(", ")

/** Counts that a fault must leave at 0. */
const WRONG: ReadonlyArray<readonly [heading: string, countOf: (row: Row) => number]> = [
  ["lost", ({ lost }) => lost],
  ["duplicated", ({ duplicated }) => duplicated],
  ["out of order", ({ outOfOrder }) => outOfOrder],
  ["wrongly notified", ({ wronglyNotified }) => wronglyNotified],
]

const wrong = (rows: ReadonlyArray<Row>): string =>
  WRONG.filter(([, countOf]) => rows.some((row) => countOf(row) > 0))
    .map(([heading, countOf]) => `${shared(rows.map((row) => String(countOf(row))))} ${heading}`)
    .join("; ")

/** The columns of one fault's counts. */
const COUNTS: ReadonlyArray<readonly [heading: string, cellOf: (row: Row) => string]> = COLUMNS.filter(
  ([heading]) => heading !== "fault" && !WRONG.some(([other]) => other === heading),
)

const sectionOf = ({ faults, title }: FaultKind, results: ReadonlyArray<Row>): string => {
  const body = faults.map(({ cause, name, seen, setups }) => {
    const rows = setups.flatMap((setup) => results.filter((row) => row.fault === name && row.setup === setup))
    const counts = COUNTS.map(([, cellOf]) => shared(rows.map(cellOf)))
    return [name, cause, seen, wrong(rows) || "nothing", ...counts]
  })
  const heading = ["fault", "cause", "meanwhile", "wrong", ...COUNTS.map(([name]) => name)]
  return [`### ${title}`, markdown([heading, ...body])].join("\n\n")
}

/** The page with the latest results between its marks. */
export const renderPage = (
  page: string,
  kinds: ReadonlyArray<FaultKind>,
  { machine, rows }: Results,
): string => {
  const [before = "", rest = ""] = page.split(BEGIN)
  const [, after = ""] = rest.split(END)
  const sections = kinds.map((kind) => sectionOf(kind, rows))
  return `${before}${BEGIN}\n\n${[`The latest run: ${machine}.`, ...sections].join("\n\n")}\n\n${END}${after}`
}
