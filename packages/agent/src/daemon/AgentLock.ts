import { closeSync, openSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { isBusy } from "../spool/spoolFault.ts"

/** A user who can read the file can hold the lock. */
const FILE_MODE = 0o600

/**
 * Held by the agent that runs on a state folder. The system releases it when the process ends,
 * however it ends, so no stale lock is left.
 */
export class AgentLock {
  readonly #database: DatabaseSync

  private constructor(database: DatabaseSync) {
    this.#database = database
  }

  /** Takes the lock; `undefined` if another agent holds it. */
  static take(path: string): AgentLock | undefined {
    // Before SQLite opens it: the system gives up all locks of a process that closes the file.
    closeSync(openSync(path, "a", FILE_MODE))
    const database = new DatabaseSync(path, { timeout: 0 })
    try {
      // A journal on a full disk would refuse the lock.
      database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE")
      return new AgentLock(database)
    } catch (error) {
      database.close()
      if (isBusy(error)) return undefined
      throw error
    }
  }

  release(): void {
    this.#database.close()
  }
}
