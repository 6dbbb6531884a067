import type { SqlConnection } from "effect/sql"
import type { CopiedColumn, CopiedRow, CopiedTable } from "@tocsin/core/ports/Copy"

/** How a column is read: JSON verbatim, since the driver would parse it. */
const selection = ({ name, type }: CopiedColumn): string =>
  type === "json" ? `${name}::text AS ${name}` : name

/** Reads all rows in the order of the key. */
export const selectionOf = ({ name, columns, key }: CopiedTable): string =>
  `SELECT ${columns.map(selection).join(", ")} FROM ${name} ORDER BY ${key.join(", ")}`

/** A row as it was read by {@link selectionOf}. */
export const fromPostgres =
  ({ columns }: CopiedTable) =>
  (row: SqlConnection.Row): CopiedRow =>
    columns.map(({ name }) => {
      // Of the types of the columns the driver makes these; small integers are numbers to it.
      const value = row[name] as string | bigint | boolean | number | null
      return typeof value === "number" ? BigInt(value) : value
    })

/** The types by which `json_to_recordset` reads values; JSON is read as text, so that it is kept verbatim. */
const GIVEN_TYPES = { text: "text", integer: "int8", boolean: "boolean", json: "text", uuid: "uuid" } as const

const given = ({ name, type }: CopiedColumn): string => (type === "json" ? `${name}::json` : name)

/** Inserts rows that are given as one JSON parameter, with the numbers that they bring. */
export const insertionOf = ({ name, columns }: CopiedTable): string => {
  const names = columns.map((column) => column.name).join(", ")
  const types = columns.map((column) => `${column.name} ${GIVEN_TYPES[column.type]}`).join(", ")
  return `INSERT INTO ${name} (${names}) OVERRIDING SYSTEM VALUE
    SELECT ${columns.map(given).join(", ")} FROM json_to_recordset($1) AS given (${types})`
}

/** Rows as {@link insertionOf} takes them; a 64-bit integer goes in as its digits. */
export const toJson = ({ columns }: CopiedTable, rows: ReadonlyArray<CopiedRow>): string =>
  JSON.stringify(
    rows.map((row) =>
      Object.fromEntries(
        columns.map(({ name }, index) => {
          const value = row[index] ?? null
          return [name, typeof value === "bigint" ? value.toString() : value]
        }),
      ),
    ),
  )
