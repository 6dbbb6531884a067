import { join } from "node:path"
import * as MemoryStorage from "@tocsin/core/memory/MemoryStorage"
import * as PgClock from "@tocsin/adapter-pg/PgClock"
import * as PgStorage from "@tocsin/adapter-pg/PgStorage"
import * as SqliteStorage from "@tocsin/adapter-sqlite/SqliteStorage"
import type { Storage, StorageError } from "@tocsin/core/ports/Storage"
import { Layer } from "effect"
import type { Settings } from "./settings/Settings.ts"

/** The file of the embedded database. */
export const databaseFile = ({ SERVICE_DATA_DIR }: Pick<Settings, "SERVICE_DATA_DIR">): string =>
  join(SERVICE_DATA_DIR, "tocsin.db")

/** What the storage that the settings ask for is called where anybody reads it. */
export const storageKind = ({ DATABASE_URL }: Settings): string => {
  if (DATABASE_URL === undefined) return "SQLite"
  return DATABASE_URL.kind === "memory" ? "memory" : "PostgreSQL"
}

/** What the log calls the storage that the settings ask for; no address, which may hold a password. */
export const storageName = (settings: Settings): string => {
  const kind = storageKind(settings)
  if (settings.DATABASE_URL === undefined) return `${kind} in ${databaseFile(settings)}`
  return settings.DATABASE_URL.kind === "memory" ? `${kind}: nothing outlives this process` : kind
}

/** The storage that the settings ask for. */
export const storageLayer = (settings: Settings): Layer.Layer<Storage, StorageError> => {
  if (settings.DATABASE_URL === undefined) {
    return SqliteStorage.layer({
      file: databaseFile(settings),
      lockTimeout: settings.SERVICE_STORAGE_TIMEOUT,
    })
  }
  return settings.DATABASE_URL.kind === "memory"
    ? MemoryStorage.layer
    : PgStorage.layer({ url: settings.DATABASE_URL.url })
}

/** The clock that all replicas agree on: with PostgreSQL, the process's own one corrected by the database's. */
export const clockLayer = (settings: Settings): Layer.Layer<never, StorageError> =>
  settings.DATABASE_URL?.kind === "postgres" ? PgClock.layer({ url: settings.DATABASE_URL.url }) : Layer.empty
