import { closeSync, existsSync, openSync } from "node:fs"
import { StorageError } from "@tocsin/core/ports/Storage"
import type { DatabaseSync, SQLInputValue } from "node:sqlite"
import { nodeSqlite } from "./nodeSqlite.ts"
import { FileIdentity } from "./FileIdentity.ts"
import { LogGuard } from "./LogGuard.ts"

/**
 * A prepared statement whose rows are arrays, integers as bigint. The type of a row is what its statement selects: rows
 * were written by this adapter, so they are not decoded through a Schema, which costs more than reading them.
 */
export interface Query<Row> {
  /** The first row. */
  readonly get: (...parameters: ReadonlyArray<SQLInputValue>) => Row | undefined
  readonly all: (...parameters: ReadonlyArray<SQLInputValue>) => ReadonlyArray<Row>
  readonly run: (...parameters: ReadonlyArray<SQLInputValue>) => { readonly changes: number | bigint }
}

// Another writer is done within a millisecond or two, which is worth waiting for; longer waits leave the event loop free.
const BUSY_MILLIS = 5

/**
 * Memory for pages, in KiB: what lies above the leaves of the indexes, and the leaves that are written to at every change.
 * Four times as much, which is in use soon as the file grows, made nothing faster: other pages come from the operating
 * system's cache.
 */
const CACHE_KIB = 16_384

// Until `deferSync` a commit is synced before it returns. Checkpoints are a worker's, see `Checkpointer`.
const SETTINGS = `
PRAGMA synchronous = FULL;
PRAGMA cache_size = -${CACHE_KIB};
PRAGMA wal_autocheckpoint = 0;
PRAGMA temp_store = MEMORY;
`

type CheckpointRow = readonly [busy: bigint, pages: bigint, moved: bigint]

const OWNER_ONLY = 0o600

/** In which a database lives that ends with its connection. For tests. */
export const IN_MEMORY = ":memory:"

/** One connection to one file, all of it synchronous. Its methods throw what SQLite says; see `SqliteFailures`. */
export class SqliteConnection {
  readonly file: string
  readonly #database: DatabaseSync
  #guard: LogGuard | undefined
  readonly #identity: FileIdentity | undefined
  readonly #begin: Query<never>
  readonly #commit: Query<never>
  readonly #probe: Query<never>
  readonly #logUse: Query<CheckpointRow>
  readonly #dataVersion: Query<readonly [version: bigint]>

  #keepsLog = false

  private constructor(database: DatabaseSync, file: string) {
    this.file = file
    this.#database = database
    this.#identity = file === IN_MEMORY ? undefined : new FileIdentity(file)
    this.#begin = this.query("BEGIN IMMEDIATE")
    this.#commit = this.query("COMMIT")
    this.#probe = this.query("SELECT 1 FROM sqlite_schema")
    this.#logUse = this.query("PRAGMA wal_checkpoint(NOOP)")
    this.#dataVersion = this.query("PRAGMA data_version")
  }

  /** Opens a file for reading; nothing is written to it, not even what a former process left in its write-ahead log. */
  static openReadOnly(file: string): SqliteConnection {
    return new SqliteConnection(open(file, true), file)
  }

  /** Opens a file, or creates it for its owner alone, and switches it to write-ahead logging. */
  static open(file: string): SqliteConnection {
    // SQLite itself would let others read it. It gives the files beside it the same mode.
    if (file !== IN_MEMORY && !existsSync(file)) closeSync(openSync(file, "a", OWNER_ONLY))
    const database = open(file, false)
    try {
      const connection = new SqliteConnection(database, file)
      database.exec(SETTINGS)
      connection.#logAhead()
      return connection
    } catch (cause) {
      database.close()
      throw cause
    }
  }

  #logAhead(): void {
    const [mode] = this.query<[mode: string]>("PRAGMA journal_mode = WAL").get() ?? []
    if (mode === "wal" || this.file === IN_MEMORY) return
    throw new StorageError({
      reason: "other",
      message: `the file system of ${this.file} does not support SQLite's shared memory: move the file to a local disk`,
    })
  }

  /** Prepares a statement. Its text is made of constants alone: values are parameters. */
  query<Row = never>(sql: string): Query<Row> {
    // The connection is set to arrays of bigint; which columns they hold is in the text.
    return this.#database.prepare(sql) as unknown as Query<Row>
  }

  /** Runs statements without parameters or rows. */
  execute(sql: string): void {
    this.#database.exec(sql)
  }

  /**
   * From now on a commit only reaches the operating system; whoever needs it on the disk syncs the log (see
   * `LogFile`). Begins the log anew unless other connections are in the way, so that the first commit does not have to: a
   * log's header is synced on the spot before anything follows it.
   */
  deferSync(): void {
    if (this.file === IN_MEMORY) return
    const [, pages, moved] = this.query<CheckpointRow>("PRAGMA wal_checkpoint(PASSIVE)").get() ?? []
    if (pages === moved) this.transaction(() => this.#rewriteFirstPage())
    this.#database.exec("PRAGMA synchronous = NORMAL")
    this.#guard = new LogGuard(this.file)
  }

  /** The smallest change that SQLite writes: a number of the application's, to what it is. */
  #rewriteFirstPage(): void {
    const [version = 0n] = this.query<[bigint]>("PRAGMA user_version").get() ?? []
    this.#database.exec(`PRAGMA user_version = ${version}`)
  }

  /** How many pages were written to the log since it began anew; none in memory, or before there is a log. */
  logPages(): number {
    // SQLite says -1 where there is no log.
    return Math.max(0, Number(this.#logUse.get()?.[1] ?? 0n))
  }

  /** Another number whenever another connection has committed. In a transaction, until its end. */
  dataVersion(): bigint {
    return this.#dataVersion.get()?.[0] ?? 0n
  }

  /**
   * Runs `use` in one transaction that holds the write lock from its start. Whatever it throws rolls back; what is
   * returned survives the end of this process, and that of the machine once the log is synced.
   */
  transaction<A>(use: () => A): A {
    this.#identity?.verify()
    this.#begin.get()
    try {
      const result = use()
      this.#commit.get()
      return result
    } catch (cause) {
      // Some failures have rolled back already. A rollback that fails has nothing to undo: the next BEGIN tells.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK")
      throw cause
    }
  }

  /** Runs `use` so that all of its reads see the same moment, whatever other processes commit meanwhile. */
  snapshot<A>(use: () => A): A {
    this.#database.exec("BEGIN")
    try {
      return use()
    } finally {
      this.#database.exec("COMMIT")
    }
  }

  /** Reads a page, unless it is in memory already, and looks whether the file is still there. */
  probe(): void {
    this.#identity?.verify()
    this.#probe.get()
  }

  /** From now on closing leaves the log as it is. */
  keepLog(): void {
    this.#keepsLog = true
  }

  /**
   * Closes. The last connection to a file moves the log into it and removes the log, as far as the disk allows: what stays
   * in the log is read from there at the next start. Only a connection that reads is never the one to do so: it is closed
   * last where the log has to stay.
   */
  close(): void {
    if (!this.#keepsLog) this.#guard?.close()
    this.#database.close()
    if (this.#keepsLog) this.#guard?.close()
  }
}

const open = (file: string, readOnly: boolean): DatabaseSync =>
  new (nodeSqlite().DatabaseSync)(file, {
    readOnly,
    timeout: BUSY_MILLIS,
    // A look at the incident for each row that belongs to it: a tenth of what writing them costs. Incidents are written
    // before such rows, and removed after them, in one place each.
    enableForeignKeyConstraints: false,
    readBigInts: true,
    returnArrays: true,
  })
