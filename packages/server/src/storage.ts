import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import * as PgClock from "@tocsin/adapter-pg/PgClock"
import * as PgStorage from "@tocsin/adapter-pg/PgStorage"
import { inspectConnections } from "@tocsin/adapter-pg/inspection/inspectStorage"
import { PROCESS_CONNECTIONS } from "@tocsin/adapter-pg/processConnections"
import * as SqliteStorage from "@tocsin/adapter-sqlite/SqliteStorage"
import type { Storage, StorageError } from "@tocsin/core/ports/Storage"
import { Effect, FileSystem, Layer } from "effect"
import { join } from "node:path"
import { StartFailure } from "./CommandFailure.ts"
import type { Settings } from "./settings/Settings.ts"

/** The advice for a server that opens more connections than PostgreSQL allows. */
export const connectionAdvice = (allowed: number): string | undefined =>
  PROCESS_CONNECTIONS <= allowed
    ? undefined
    : `this server opens up to ${PROCESS_CONNECTIONS} connections, but PostgreSQL allows ${allowed}: raise max_connections or the limit of the role or database; behind a pooler, ignore this`

/** Warns of too few connections, beside the start. */
export const connectionWarning = ({ DATABASE_URL: database }: Settings): Layer.Layer<never> => {
  if (database?.kind !== "postgres") return Layer.empty
  const warn = Effect.flatMap(inspectConnections({ url: database.url }), (allowed) => {
    const message = connectionAdvice(allowed)
    return message === undefined ? Effect.void : Effect.logWarning(message)
  })
  // The storage reports what is wrong with PostgreSQL.
  return Layer.effectDiscard(Effect.forkScoped(Effect.ignore(warn)))
}

/** The file of the embedded database. */
export const databaseFile = ({ SERVICE_DATA_DIR }: Pick<Settings, "SERVICE_DATA_DIR">): string =>
  join(SERVICE_DATA_DIR, "tocsin.db")

/** The kind of storage, as people read it. */
export const storageKind = ({ DATABASE_URL }: Settings): string => {
  if (DATABASE_URL === undefined) return "SQLite"
  return DATABASE_URL.kind === "memory" ? "memory" : "PostgreSQL"
}

/** The name of the storage in the log, without an address, which may hold a password. */
export const storageName = (settings: Settings): string => {
  const kind = storageKind(settings)
  if (settings.DATABASE_URL === undefined) return `${kind} in ${databaseFile(settings)}`
  return settings.DATABASE_URL.kind === "memory" ? `${kind}: data is lost when this process ends` : kind
}

/** Called when a storage has failed until it is opened again. */
export type OnStorageLost = (failure: Effect.Effect<never, StorageError>) => void

/** The storage of these settings. */
export const storageLayer = (
  settings: Settings,
  onLost?: OnStorageLost,
): Layer.Layer<Storage, StorageError> => {
  if (settings.DATABASE_URL === undefined) {
    return SqliteStorage.layer({
      file: databaseFile(settings),
      lockTimeout: settings.SERVICE_STORAGE_TIMEOUT,
      log: { onFailed: onLost },
    })
  }
  return settings.DATABASE_URL.kind === "memory"
    ? MemoryStorage.layer
    : PgStorage.layer({ url: settings.DATABASE_URL.url })
}

/** With PostgreSQL, this machine's clock corrected by the database's, so that replicas agree. */
export const clockLayer = (settings: Settings): Layer.Layer<never, StorageError> =>
  settings.DATABASE_URL?.kind === "postgres" ? PgClock.layer({ url: settings.DATABASE_URL.url }) : Layer.empty

// The database contains the output of checks, which may be confidential.
const OWNER_ONLY = 0o700

/** Creates the data folder if needed, for its owner alone. */
export const ensureDataDirectory = Effect.fnUntraced(function* (path: string) {
  const files = yield* FileSystem.FileSystem
  yield* Effect.mapError(
    files.makeDirectory(path, { recursive: true, mode: OWNER_ONLY }),
    (cause) =>
      new StartFailure({
        message: `the data folder ${path} cannot be created; check that no file has its name and that its parent is writable, or set SERVICE_DATA_DIR`,
        cause,
      }),
  )
})
