import { StorageError, type StorageFailure } from "@tocsin/core/ports/Storage"
import { Effect, Predicate } from "effect"

// Primary result codes of SQLite (sqlite3.h); the low byte of an extended one.
const PERMISSION = 3
const BUSY = 5
const LOCKED = 6
const READ_ONLY = 8
const IO_ERROR = 10
const CORRUPT = 11
const FULL = 13
const CANNOT_OPEN = 14
const PROTOCOL = 15
const AUTHORIZATION = 23
const NO_DATABASE = 26
const PRIMARY = 0xff
// Extended: a row of that key is there.
const TAKEN: ReadonlySet<number> = new Set([1_555, 2_067])
// Extended: the shared-memory file beside the database could not grow.
const IO_ERROR_SHARED_MEMORY_SIZE = 4874

const LOCKS: ReadonlySet<number> = new Set([BUSY, LOCKED, PROTOCOL])

interface SqliteError {
  readonly code: "ERR_SQLITE_ERROR"
  readonly errcode: number
}

const isSqliteError = (cause: unknown): cause is SqliteError =>
  Predicate.hasProperty(cause, "code") &&
  cause.code === "ERR_SQLITE_ERROR" &&
  Predicate.hasProperty(cause, "errcode") &&
  typeof cause.errcode === "number"

/** What node:sqlite throws after a connection was closed. */
const isClosedError = (cause: unknown): boolean =>
  Predicate.hasProperty(cause, "code") && cause.code === "ERR_INVALID_STATE"

/** An error of node:fs. */
const isFileError = (cause: unknown): boolean =>
  Predicate.hasProperty(cause, "syscall") && Predicate.hasProperty(cause, "errno")

/** Whether another process held a lock; nothing was changed then, and it can be tried again. */
export const isLocked = (cause: unknown): boolean =>
  isSqliteError(cause) && LOCKS.has(cause.errcode & PRIMARY)

/** Whether a row could not be inserted because another one has its key, primary or unique. */
export const isKeyTaken = (cause: unknown): boolean => isSqliteError(cause) && TAKEN.has(cause.errcode)

const reasonOf = (errcode: number): StorageFailure => {
  if (errcode === IO_ERROR_SHARED_MEMORY_SIZE) return "full"
  switch (errcode & PRIMARY) {
    case FULL:
      return "full"
    case READ_ONLY:
    case PERMISSION:
    case AUTHORIZATION:
      return "read_only"
    case CORRUPT:
    case NO_DATABASE:
      return "damaged"
    case IO_ERROR:
    case CANNOT_OPEN:
      return "unavailable"
    case BUSY:
    case LOCKED:
    case PROTOCOL:
      return "in_use"
    default:
      return "other"
  }
}

/** What each reason means here, and what to do about it: one sentence. */
const ADVICE: { readonly [Reason in StorageFailure]: (file: string) => string } = {
  full: (file) =>
    `there is no disk space left for ${file}: free some; writing then resumes automatically, and nothing is lost`,
  read_only: (file) => `${file} is not writable: give Tocsin's user write access to the file and its folder`,
  damaged: (file) => `${file} is damaged: stop Tocsin and restore the file from a backup`,
  unavailable: (file) => `reading or writing ${file} failed: check the disk and the system log`,
  in_use: (file) =>
    `another process has locked ${file} for too long: stop that process or wait for it, then try again`,
  timed_out: (file) => `${file} did not answer in time: check the load of its disk`,
  newer: (file) => `${file} was written by a newer version of Tocsin: start that version or a later one`,
  other: (file) => `SQLite refused an operation on ${file}: report this as a defect of Tocsin, with the log`,
}

/** Says of what SQLite, or the file system, threw what it means for the storage in `file`. */
export class SqliteFailures {
  readonly #file: string

  /** What callers are told after the storage was closed. */
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

  /** The storage's failure; anything but an error of SQLite or of the file system is a defect. */
  toEffect(cause: unknown): Effect.Effect<never, StorageError> {
    if (cause instanceof StorageError) return Effect.fail(cause)
    if (isSqliteError(cause)) return Effect.fail(this.#error(reasonOf(cause.errcode), cause))
    if (isClosedError(cause)) return this.closed
    if (isFileError(cause)) return Effect.fail(this.#error("unavailable", cause))
    return Effect.die(cause)
  }

  #error(reason: StorageFailure, cause: unknown): StorageError {
    return new StorageError({ reason, message: ADVICE[reason](this.#file), cause })
  }
}
