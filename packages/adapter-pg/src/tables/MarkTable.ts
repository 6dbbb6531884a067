import { storedTables } from "@tocsin/core/model/StoredTables"
import { makeTable } from "./makeTable.ts"

/** The service's sign of life, in one row. */
export const markTable = makeTable(storedTables.mark, { alias: "s" })

/** Reads the mark. */
export const findMark = `SELECT ${markTable.columns} FROM mark AS s WHERE s.name = $1`

/** Locks the mark. */
export const lockMark = `${findMark} FOR UPDATE`

/** Stores a value unless one is stored, and returns the stored one. */
export const establish = `INSERT INTO established AS kept (name, value) VALUES ($1, $2)
  ON CONFLICT (name) DO UPDATE SET value = kept.value RETURNING value`
