import process from "node:process"
import type * as NodeSqlite from "node:sqlite"

/** Whether this Node.js has all of SQLite that Tocsin needs. */
export const hasNodeSqlite = (): boolean =>
  typeof process.getBuiltinModule?.("node:sqlite")?.backup === "function"

/** Node's SQLite. An import would keep programs with other storages from starting. */
export const nodeSqlite = (): typeof NodeSqlite => process.getBuiltinModule("node:sqlite")
