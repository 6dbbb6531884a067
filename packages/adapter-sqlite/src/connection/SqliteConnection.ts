import { closeSync, existsSync, openSync, realpathSync } from "node:fs"
import process from "node:process"
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"
import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { nodeSqlite } from "./nodeSqlite.ts"
import { OpenFiles } from "./OpenFiles.ts"

/** Rows are arrays with integers as bigint. No Schema decodes them: that costs more than reading them. */
export interface Query<Row> {
  readonly get: (...parameters: ReadonlyArray<SQLInputValue>) => Row | undefined
  readonly all: (...parameters: ReadonlyArray<SQLInputValue>) => ReadonlyArray<Row>
  readonly iterate: (...parameters: ReadonlyArray<SQLInputValue>) => Iterator<Row>
  readonly run: (...parameters: ReadonlyArray<SQLInputValue>) => { readonly changes: number | bigint }
}

// Another writer needs a millisecond or two. Longer waits must not block the event loop.
const BUSY_MILLIS = 5

/** For inner pages of indexes, and leaves. Four times as much made nothing faster. */
const CACHE_KIB = 16_384

// A commit is synced before it returns, until `deferSync`. `Checkpoints` does the checkpoints. What is deleted or
// replaced leaves the file: it may be a token that an earlier version kept in clear.
const SETTINGS = `
PRAGMA synchronous = FULL;
PRAGMA cache_size = -${CACHE_KIB};
PRAGMA wal_autocheckpoint = 0;
PRAGMA temp_store = MEMORY;
PRAGMA secure_delete = ON;
`

type CheckpointRow = readonly [busy: bigint, pages: bigint, moved: bigint]

const OWNER_ONLY = 0o600

/** A private database in memory, discarded when its connection closes. For tests. */
export const IN_MEMORY = ":memory:"

const guards = new Set<DatabaseSync>()
const lastStatements: Array<StatementSync> = []

// When the process ends, Node closes connections in the order in which they were made, but each
// after its last statement. These statements make the guards close last.
const outliveOthers = (): void => {
  for (const guard of guards) lastStatements.push(guard.prepare("SELECT 1"))
}

/**
 * A connection that keeps the log out of the file. The last connection to close moves the log into
 * the file without checking its checksums, but a read-only one cannot. While this one is open, no
 * other connection of the process is the last. The set keeps it from being collected.
 */
class LogGuard {
  readonly #database: DatabaseSync

  /** Throws errors of SQLite. The file is a database with a log. */
  constructor(file: string) {
    this.#database = new (nodeSqlite().DatabaseSync)(file, { readOnly: true })
    this.#database.prepare("SELECT 1 FROM sqlite_schema").get()
    if (guards.size === 0) process.on("exit", outliveOthers)
    guards.add(this.#database)
  }

  close(): void {
    guards.delete(this.#database)
    if (guards.size === 0) process.off("exit", outliveOthers)
    this.#database.close()
  }
}

/** One synchronous connection to one file. Its methods throw errors of SQLite; see `SqliteFailures`. */
export class SqliteConnection {
  readonly file: string
  readonly #database: DatabaseSync
  #guard: LogGuard | undefined
  readonly #files: OpenFiles | undefined
  readonly #begin: Query<never>
  readonly #commit: Query<never>
  readonly #probe: Query<never>
  readonly #logUse: Query<CheckpointRow>
  readonly #dataVersion: Query<readonly [version: bigint]>

  #keepsLog = false

  private constructor(database: DatabaseSync, file: string) {
    this.file = file
    this.#database = database
    this.#files = file === IN_MEMORY ? undefined : new OpenFiles(file)
    this.#begin = this.query("BEGIN IMMEDIATE")
    this.#commit = this.query("COMMIT")
    this.#probe = this.query("SELECT 1 FROM sqlite_schema")
    this.#logUse = this.query("PRAGMA wal_checkpoint(NOOP)")
    this.#dataVersion = this.query("PRAGMA data_version")
  }

  /** Opens a file for reading. Writes nothing to it, not even the log that a crash left. */
  static openReadOnly(file: string): SqliteConnection {
    return new SqliteConnection(open(file, true), file)
  }

  /** Only a process that ended while it made a file leaves a journal. A reader cannot roll it back. */
  static rollBack(file: string): void {
    if (!existsSync(file) || !existsSync(`${realpathSync(file)}-journal`)) return
    const database = open(file, false)
    try {
      database.prepare("PRAGMA schema_version").get()
    } finally {
      database.close()
    }
  }

  /** Opens a file, or creates it with access for its owner only, and switches on its log. */
  static open(file: string): SqliteConnection {
    // SQLite would let others read it. The files beside it get the same mode.
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

  /**
   * A statement that is prepared when it first runs: to prepare all takes longer than to open the file. Its text has
   * constants only: values are parameters. SQLite plans a statement again on each run where a parameter alone is its
   * limit, and from 3.54 on (Node.js 24.22) where an ordered statement compares a column with a parameter alone. That
   * takes longer than to read a few rows.
   */
  query<Row = never>(sql: string): Query<Row> {
    const limited = sql.replaceAll(/\bLIMIT \?\d*/g, "$& + 0")
    const isOrdered = /\bORDER BY\b|\bm(?:in|ax)\(/.test(sql)
    const planned = isOrdered ? limited.replaceAll(/(?:=|\bIS) (?=\?)/g, "$&+") : limited
    let prepared: Query<Row> | undefined
    // The connection returns arrays with bigint; the text states their columns.
    const statement = () => (prepared ??= this.#database.prepare(planned) as unknown as Query<Row>)
    return {
      get: (...parameters) => statement().get(...parameters),
      all: (...parameters) => statement().all(...parameters),
      iterate: (...parameters) => statement().iterate(...parameters),
      run: (...parameters) => statement().run(...parameters),
    }
  }

  execute(sql: string): void {
    this.#database.exec(sql)
  }

  /**
   * Leaves the sync of commits to `LogFile`. Also starts the log over unless another connection
   * uses it, so that the first commit need not: SQLite syncs a new log's header immediately.
   */
  deferSync(): void {
    if (this.file === IN_MEMORY) return
    const [, pages, moved] = this.query<CheckpointRow>("PRAGMA wal_checkpoint(PASSIVE)").get() ?? []
    if (pages === moved) this.transaction(() => this.#rewriteFirstPage())
    this.#database.exec("PRAGMA synchronous = NORMAL")
    this.guardLog()
    this.#files?.addLog()
  }

  /** Makes sure that `keepLog` has its effect. The file is a database with a log. */
  guardLog(): void {
    this.#guard ??= new LogGuard(this.file)
  }

  /** The smallest change that SQLite writes: an application's number, to its present value. */
  #rewriteFirstPage(): void {
    const [version = 0n] = this.query<[bigint]>("PRAGMA user_version").get() ?? []
    this.#database.exec(`PRAGMA user_version = ${version}`)
  }

  /** The pages of the log since it started over; 0 in memory or without a log. */
  logPages(): number {
    // -1 without a log.
    return Math.max(0, Number(this.#logUse.get()?.[1] ?? 0n))
  }

  /** A number that changes when another connection commits, and not during a transaction. */
  dataVersion(): bigint {
    return this.#dataVersion.get()?.[0] ?? 0n
  }

  /** Holds the write lock from the start, and rolls back if `use` throws. Durable once the log is synced. */
  transaction<A>(use: () => A): A {
    this.#verify("file and log")
    this.#begin.get()
    try {
      const result = use()
      this.#commit.get()
      return result
    } catch (cause) {
      // Some failures have rolled back already. If the rollback fails, so will the next BEGIN.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK")
      throw cause
    }
  }

  /** Runs `use` so that all of its reads see one moment. */
  snapshot<A>(use: () => A): A {
    this.#database.exec("BEGIN")
    try {
      return use()
    } finally {
      // Some failures have ended it already, and are what the caller gets.
      if (this.#database.isTransaction) this.#database.exec("COMMIT")
    }
  }

  /** Reads a page, unless it is cached, and checks that the file and its log are still there. */
  probe(): void {
    this.#verify("all")
    this.#probe.get()
  }

  #verify(looked: "file and log" | "all"): void {
    // A closed connection has removed its log; its next statement says that it is closed.
    const failure = this.#database.isOpen ? this.#files?.lost(looked) : undefined
    if (failure === undefined) return
    if (this.#files?.hasItsFile === true) this.#rescueLog()
    // The log does not belong to another file.
    else this.keepLog()
    throw failure
  }

  /**
   * Moves the log into the file while this connection still has both: a log without its name ends
   * with the process. Another process may make a log by that name afterwards. Closing would remove
   * it, so it stays; one that exists already may contradict this one, and goes.
   */
  #rescueLog(): void {
    try {
      const [, pages, moved] = this.query<CheckpointRow>("PRAGMA wal_checkpoint(PASSIVE)").get() ?? []
      if (pages === moved && !existsSync(`${this.file}-wal`)) this.keepLog()
    } catch {
      // A full disk, say: the next look tries again, and so does `close`.
    }
  }

  /** Makes `close` leave the log as it is; needs `guardLog`. */
  keepLog(): void {
    this.#keepsLog = true
  }

  /** The last connection moves the log into the file. A log that has to stay needs the guard to close last. */
  close(): void {
    if (!this.#keepsLog) this.#guard?.close()
    this.#database.close()
    if (this.#keepsLog) this.#guard?.close()
    this.#files?.close()
  }
}

const open = (file: string, readOnly: boolean): DatabaseSync =>
  new (nodeSqlite().DatabaseSync)(file, {
    readOnly,
    timeout: BUSY_MILLIS,
    readBigInts: true,
    returnArrays: true,
  })
