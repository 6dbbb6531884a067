import process from "node:process"
import type * as NodeSqlite from "node:sqlite"
import { StorageError } from "@tocsin/core/kernel/ports/Storage"

/**
 * `wal_checkpoint(NOOP)` came with 3.51.0; before, it moves an unverified log into the file. A
 * defect that can lose commits when the log starts over (WAL-reset) was fixed in 3.51.3.
 */
const OLDEST = [3, 51, 3] as const

/** Whether this Node.js has all of SQLite that Tocsin needs. */
export const hasNodeSqlite = (): boolean =>
  typeof process.getBuiltinModule?.("node:sqlite")?.backup === "function" &&
  isRecent(process.versions["sqlite"] ?? "0")

const isRecent = (version: string): boolean => {
  const found = version.split(".").map(Number)
  const differs = OLDEST.findIndex((number, index) => number !== found[index])
  return differs === -1 || (found[differs] ?? 0) > (OLDEST[differs] ?? 0)
}

/**
 * Node's SQLite. An import would keep programs with other storages from starting. Throws a
 * StorageError if this Node.js has none or an older one: call it before anything is written.
 */
export const nodeSqlite = (): typeof NodeSqlite => {
  if (hasNodeSqlite()) return process.getBuiltinModule("node:sqlite")
  throw new StorageError({
    reason: "unavailable",
    message: `Tocsin needs SQLite ${OLDEST.join(".")} or newer, and Node.js ${process.version} has ${process.versions["sqlite"] ?? "none"}: install the latest Node.js 24 (24.22.1 or newer)`,
  })
}
