/** The column types that records use. */
export type ColumnType = "text" | "uuid" | "int4" | "int8" | "boolean" | "json"

/** Columns by name, in the order of a statement's parameters. */
export type Columns = Readonly<Record<string, ColumnType>>

const SPECIAL = /["\\]/
const EVERY_SPECIAL = /["\\]/g

/** A text as an element of an array literal. */
export const quoted = (text: string): string =>
  `"${SPECIAL.test(text) ? text.replace(EVERY_SPECIAL, String.raw`\$&`) : text}"`

const elementOf: Readonly<Record<ColumnType, (value: unknown) => string>> = {
  text: (value) => quoted(String(value)),
  json: (value) => quoted(JSON.stringify(value)),
  uuid: String,
  int4: String,
  int8: String,
  boolean: String,
}

/**
 * Rows as one array literal a column, for `unnest`: what is absent is NULL. Half the bytes of JSON, which names each column
 * again in each row, and less to parse; the driver's own encoding of arrays is several times as slow.
 */
export const columnArrays = (columns: Columns, rows: ReadonlyArray<object>): Array<string> =>
  Object.entries(columns).map(([column, type]) => {
    const toElement = elementOf[type]
    let literal = ""
    for (const row of rows as ReadonlyArray<Readonly<Record<string, unknown>>>) {
      const value = row[column]
      literal += value === undefined ? ",NULL" : `,${toElement(value)}`
    }
    return `{${literal.slice(1)}}`
  })
