import process from "node:process"
import type { DatabaseSync, StatementSync } from "node:sqlite"
import { nodeSqlite } from "./nodeSqlite.ts"

const open = new Set<DatabaseSync>()
const lastStatements: Array<StatementSync> = []

// At its end Node closes connections that were forgotten in the order in which they were made, though not before the last of
// their statements. So what is prepared here is closed after everything else.
const outliveOthers = (): void => {
  for (const guard of open) lastStatements.push(guard.prepare("SELECT 1"))
}

/**
 * A connection that keeps the log of a file out of the file. The last connection that closes moves the log into the file,
 * without a look at its checksums; one that only reads cannot. As long as this one is open, no other one of the process is the
 * last. It is remembered here, for forgotten connections may be collected.
 */
export class LogGuard {
  readonly #database: DatabaseSync

  /** Throws what SQLite says. The file is a database with a log. */
  constructor(file: string) {
    this.#database = new (nodeSqlite().DatabaseSync)(file, { readOnly: true })
    this.#database.prepare("SELECT 1 FROM sqlite_schema").get()
    if (open.size === 0) process.on("exit", outliveOthers)
    open.add(this.#database)
  }

  close(): void {
    open.delete(this.#database)
    if (open.size === 0) process.off("exit", outliveOthers)
    this.#database.close()
  }
}
