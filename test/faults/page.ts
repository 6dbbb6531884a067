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

/** One row for each fault: a cell lists its storages' values in their order, or the one that all share. */
const tableOfFaults = (faults: ReadonlyArray<ReadonlyArray<Row>>): string =>
  markdown([
    COLUMNS.map(([heading]) => heading),
    ...faults.map((rows) =>
      COLUMNS.map(([, cellOf]) => {
        const cells = rows.map(cellOf)
        return new Set(cells).size === 1 ? cells.slice(0, 1).join() : cells.join(", ")
      }),
    ),
  ])

const causes = ({ faults, title }: FaultKind): string =>
  [
    `### ${title}`,
    markdown([
      ["fault", "cause", "meanwhile"],
      ...faults.map(({ cause, name, seen }) => [name, cause, seen]),
    ]),
  ].join("\n\n")

const counts = (kinds: ReadonlyArray<FaultKind>, rows: ReadonlyArray<Row>): string => {
  const found = kinds
    .flatMap(({ faults }) => faults)
    .map(({ name, setups }) =>
      setups.flatMap((setup) => rows.filter((row) => row.fault === name && row.setup === setup)),
    )
  return ["### Counts", tableOfFaults(found.filter((ofFault) => ofFault.length > 0))].join("\n\n")
}

/** The page with the latest results between its marks. */
export const renderPage = (
  page: string,
  kinds: ReadonlyArray<FaultKind>,
  { machine, rows }: Results,
): string => {
  const [before = "", rest = ""] = page.split(BEGIN)
  const [, after = ""] = rest.split(END)
  const sections = [...kinds.map(causes), counts(kinds, rows)]
  return `${before}${BEGIN}\n\n${[`The latest run: ${machine}.`, ...sections].join("\n\n")}\n\n${END}${after}`
}
