import { StorageError, type StorageFailure } from "@tocsin/core/kernel/ports/Storage"
import { Effect, Predicate } from "effect"

// Primary result codes of SQLite (sqlite3.h): the low byte of an extended code.
const PRIMARY = 0xff
const REASONS: ReadonlyMap<number, StorageFailure> = new Map([
  [3, "read_only"], // SQLITE_PERM
  [5, "in_use"], // SQLITE_BUSY
  [6, "in_use"], // SQLITE_LOCKED
  [8, "read_only"], // SQLITE_READONLY
  [10, "unavailable"], // SQLITE_IOERR
  [11, "damaged"], // SQLITE_CORRUPT
  [13, "full"], // SQLITE_FULL
  [14, "unavailable"], // SQLITE_CANTOPEN
  [15, "in_use"], // SQLITE_PROTOCOL
  [23, "read_only"], // SQLITE_AUTH
  [26, "damaged"], // SQLITE_NOTADB
])
// Extended: another row has the primary key or the unique key.
const TAKEN: ReadonlySet<number> = new Set([1_555, 2_067])
// Extended: the shared-memory file beside the database could not grow.
const IO_ERROR_SHARED_MEMORY_SIZE = 4_874

interface SqliteError {
  readonly code: "ERR_SQLITE_ERROR"
  readonly errcode: number
}

const isSqliteError = (cause: unknown): cause is SqliteError =>
  Predicate.hasProperty(cause, "code") &&
  cause.code === "ERR_SQLITE_ERROR" &&
  Predicate.hasProperty(cause, "errcode") &&
  typeof cause.errcode === "number"

const isClosedError = (cause: unknown): boolean =>
  Predicate.hasProperty(cause, "code") && cause.code === "ERR_INVALID_STATE"

/** The meaning of an error of the file system; `undefined` for any other error. */
const fileReason = (cause: unknown): StorageFailure | undefined =>
  Predicate.hasProperty(cause, "syscall") && Predicate.hasProperty(cause, "code")
    ? (FILE_REASONS.get(String(cause.code)) ?? "unavailable")
    : undefined

const FILE_REASONS: ReadonlyMap<string, StorageFailure> = new Map([
  ["ENOSPC", "full"],
  ["EDQUOT", "full"],
  ["EACCES", "read_only"],
  ["EPERM", "read_only"],
  ["EROFS", "read_only"],
])

/** A right that the runtime keeps from the program: of Node.js with --permission, or of Deno. */
export const isForbidden = (cause: unknown): boolean =>
  (Predicate.hasProperty(cause, "code") && cause.code === "ERR_ACCESS_DENIED") ||
  (cause instanceof Error && cause.name === "NotCapable")

export const forbidden = (file: string): StorageError =>
  new StorageError({
    reason: "unavailable",
    message: `the runtime keeps ${file} from this program: grant it the file and its folder (--allow-fs-read and --allow-fs-write of Node.js, --allow-read and --allow-write of Deno)`,
  })

/** Whether another process held a lock: nothing has changed, and a retry may succeed. */
export const isLocked = (cause: unknown): boolean =>
  isSqliteError(cause) && reasonOf(cause.errcode) === "in_use"

/** Whether an insert failed because another row has its primary or unique key. */
export const isKeyTaken = (cause: unknown): boolean => isSqliteError(cause) && TAKEN.has(cause.errcode)

const reasonOf = (errcode: number): StorageFailure =>
  errcode === IO_ERROR_SHARED_MEMORY_SIZE ? "full" : (REASONS.get(errcode & PRIMARY) ?? "other")

/** The meaning of each reason for a file, and the advice. */
const ADVICE: { readonly [Reason in StorageFailure]: (file: string) => string } = {
  full: (file) =>
    `there is no disk space left for ${file}: free some; a running server then resumes automatically, and nothing is lost`,
  read_only: (file) => `${file} is not writable: give Tocsin's user write access to the file and its folder`,
  damaged: (file) =>
    `${file} is damaged, or its disk fails: check the system log, then stop Tocsin and restore the file from a backup`,
  unavailable: (file) => `reading or writing ${file} failed: check the disk and the system log`,
  in_use: (file) =>
    `another process has locked ${file} for too long: stop that process or wait for it, then try again`,
  timed_out: (file) => `${file} did not answer in time: check the load of its disk`,
  newer: (file) => `${file} was written by a newer version of Tocsin: start that version or a later one`,
  other: (file) => `SQLite refused an operation on ${file}: report this as a defect of Tocsin, with the log`,
}

/** Makes storage failures of the errors that SQLite and the file system throw for `file`. */
export class SqliteFailures {
  readonly #file: string

  readonly closed: Effect.Effect<never, StorageError>

  constructor(file: string) {
    this.#file = file
    this.closed = Effect.fail(
      new StorageError({
        reason: "unavailable",
        message: `${file} is closed because Tocsin is shutting down: try again once it is running`,
      }),
    )
  }

  /** The storage's failure. Any other error than SQLite's and the file system's is a defect. */
  toEffect(cause: unknown): Effect.Effect<never, StorageError> {
    if (cause instanceof StorageError) return Effect.fail(cause)
    if (isForbidden(cause)) return Effect.fail(forbidden(this.#file))
    if (isSqliteError(cause)) return Effect.fail(this.#error(reasonOf(cause.errcode), cause))
    if (isClosedError(cause)) return this.closed
    const reason = fileReason(cause)
    return reason === undefined ? Effect.die(cause) : Effect.fail(this.#error(reason, cause))
  }

  unsynced(cause: Error): Effect.Effect<never, StorageError> {
    const message = isForbidden(cause)
      ? `${this.#file} cannot be made durable, because Node.js keeps fdatasync from programs that run with --permission: run this one without it, or store in PostgreSQL`
      : `${this.#file}-wal could not be written to the disk: check the disk and the system log, then start Tocsin again; nothing acknowledged is lost`
    return Effect.fail(new StorageError({ reason: "unavailable", message, cause }))
  }

  /** Runs work. What SQLite or the file system throws becomes a failure of the storage. */
  attempt<A>(work: () => A): Effect.Effect<A, StorageError> {
    return Effect.suspend(() => {
      try {
        return Effect.succeed(work())
      } catch (cause) {
        return this.toEffect(cause)
      }
    })
  }

  #error(reason: StorageFailure, cause: unknown): StorageError {
    return new StorageError({ reason, message: ADVICE[reason](this.#file), cause })
  }
}

const FIRST_DELAY_MILLIS = 1
// Long enough to leave a processor alone, short enough for a turn between a busy writer's commits.
const LONGEST_DELAY_MILLIS = 25

/** How failures are explained, and how long to wait for another process's lock. */
export interface LockOptions {
  readonly failures: SqliteFailures
  readonly lockMillis: number
}

/** One caller's wait for another process's lock, in real time, because the other process runs in it. */
export class LockPatience {
  readonly #endsAt: number
  #delay = FIRST_DELAY_MILLIS

  constructor(millis: number) {
    this.#endsAt = performance.now() + millis
  }

  get isOver(): boolean {
    return performance.now() >= this.#endsAt
  }

  /** How long to wait before the next attempt, in milliseconds: longer each time. */
  nextDelay(): number {
    const delay = this.#delay
    this.#delay = Math.min(delay * 2, LONGEST_DELAY_MILLIS)
    return delay
  }
}

export const realDelay = (millis: number): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const timer = setTimeout(() => resume(Effect.void), millis)
    return Effect.sync(() => clearTimeout(timer))
  })

/** Runs a read, and waits while another process has locked the file. */
export type Read = <A>(use: () => A) => Effect.Effect<A, StorageError>

/** Retries while another process locks the file, without blocking the event loop; then fails (`in_use`). */
export const whileLocked = <A>(use: () => A, options: LockOptions): Effect.Effect<A, StorageError> =>
  Effect.suspend(() => attempt(use, options, new LockPatience(options.lockMillis)))

const attempt = <A>(
  use: () => A,
  options: LockOptions,
  patience: LockPatience,
): Effect.Effect<A, StorageError> => {
  try {
    return Effect.succeed(use())
  } catch (cause) {
    if (!isLocked(cause) || patience.isOver) return options.failures.toEffect(cause)
    const again = Effect.suspend(() => attempt(use, options, patience))
    return Effect.andThen(realDelay(patience.nextDelay()), again)
  }
}

/** The refusal of a file that something else uses. */
export const inUse = (message: string): StorageError => new StorageError({ reason: "in_use", message })
