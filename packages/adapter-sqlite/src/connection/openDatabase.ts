import * as Instant from "@tocsin/contract/formats/Instant"
import { announceMigrations } from "@tocsin/core/kernel/ports/Migration"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"
import { verifyOpened, endNote } from "../log/verifyOpened.ts"
import { leaveOutDeleted } from "../migrations/deletedText.ts"
import { verifySchema, migrate, migrations } from "../migrations/migrate.ts"
import { SqliteConnection, IN_MEMORY } from "./SqliteConnection.ts"
import { inspectFile } from "./inspectFile.ts"
import { nodeSqlite } from "./nodeSqlite.ts"
import { type LockOptions, realDelay, whileLocked } from "./SqliteFailures.ts"

interface Unopened {
  /** The number of migrations it went through; `undefined` without a database. */
  readonly applied: number | undefined
  /** Whether a log with acknowledged changes whose sync failed is not there any more. */
  readonly isLogGone: boolean
}

/** Reads from a database, without writing to it, if its log and schema let it be opened; throws otherwise. */
export const readUnopened = <A>(
  file: string,
  read: (connection: SqliteConnection, found: Unopened) => A,
): A => {
  const connection = SqliteConnection.openReadOnly(file)
  try {
    connection.probe()
    const isLogGone = verifyOpened(connection)
    return read(connection, { applied: verifySchema(connection), isLogGone })
  } finally {
    connection.close()
  }
}

// A checkpoint of another process can make the file look truncated for a moment.
const LOOKS = 4
const BETWEEN_LOOKS_MILLIS = 50

/** Opens, creates and migrates a database. Refuses a file before writing to it. */
export const openDatabase = Effect.fnUntraced(function* (file: string, options: LockOptions) {
  const now = yield* Instant.now
  yield* whileLocked(nodeSqlite, options)
  if (file !== IN_MEMORY) yield* whileLocked(() => SqliteConnection.rollBack(file), options)
  if (file !== IN_MEMORY && (yield* inspect(file, options, LOOKS)) === "database") {
    const { applied, isLogGone } = yield* whileLocked(() => readUnopened(file, (_, found) => found), options)
    if (isLogGone) {
      yield* Effect.logWarning(
        `another program has moved or removed ${file}-wal after a failed sync: acknowledged changes may be missing; compare with a backup`,
      )
    }
    if (applied !== undefined) yield* announceMigrations(migrations.slice(applied))
  }
  const { connection, message } = yield* whileLocked(() => openMigrated(file, now), options)
  if (message !== undefined) yield* Effect.logWarning(message)
  return connection
})

const inspect = (
  file: string,
  options: LockOptions,
  looks: number,
): Effect.Effect<"database" | "nothing", StorageError> =>
  Effect.catch(
    whileLocked(() => inspectFile(file), options),
    (error) =>
      error.reason === "damaged" && looks > 1
        ? Effect.andThen(realDelay(BETWEEN_LOOKS_MILLIS), inspect(file, options, looks - 1))
        : Effect.fail(error),
  )

const openMigrated = (file: string, now: Instant.Instant) => {
  const connection = SqliteConnection.open(file)
  try {
    if (file !== IN_MEMORY) endNote(connection)
    migrate(connection, now)
    const message = leaveOutDeleted(connection)
    connection.deferSync()
    return { connection, message }
  } catch (cause) {
    connection.close()
    throw cause
  }
}
