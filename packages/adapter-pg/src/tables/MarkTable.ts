import type { MarkRecord } from "@tocsin/core/liveness/MarkRecord"
import type { SqlConnection } from "effect/sql"
import type { PgStatement } from "../client/PgConnection.ts"
import type { Nullable } from "./Nullable.ts"
import { insertStatement, selectList, type TableShape, updateStatement } from "./TableShape.ts"

const shape: TableShape<MarkRecord> = {
  name: "mark",
  key: ["name"],
  insertOrder: [],
  columns: { name: "text", marked_at: "int8", outage_ended_at: "int8" },
}

const columns = selectList(shape.columns, "s")

/** Inserts the first mark; fails where another transaction did meanwhile. */
export const insertMarks = insertStatement(shape)

/** Replaces the mark, which must be locked. */
export const updateMarks = updateStatement(shape)

/** Reads the service's sign of life. */
export const findMark: PgStatement = {
  name: "find_mark",
  text: `SELECT ${columns} FROM mark AS s WHERE s.name = $1`,
}

/** Locks the service's sign of life. */
export const lockMark: PgStatement = { name: "lock_mark", text: `${findMark.text} FOR UPDATE` }

/** Reads a row that one of these statements selected. */
export const decodeMark = (found: SqlConnection.Row): MarkRecord => {
  // The columns and their types are those of the migrations; nobody else writes the table.
  const row = found as unknown as Nullable<MarkRecord, "outage_ended_at">
  return { ...row, outage_ended_at: row.outage_ended_at ?? undefined }
}
