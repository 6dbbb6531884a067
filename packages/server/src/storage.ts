import { join } from "node:path"
import process from "node:process"
import type { Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect, FileSystem, Layer } from "effect"
import {
  type CopyEnd,
  endOf,
  postgresPlace,
  sqlitePlace,
  type StoragePlace,
} from "tocsin/internal/storages/places"
import * as PgClock from "tocsin/internal/layers/PgClock"
import * as PgStorage from "tocsin/internal/layers/PgStorage"
import * as SqliteStorage from "tocsin/internal/layers/SqliteStorage"
import { CommandFailure, StartFailure, usageFailure } from "./CommandFailure.ts"
import { database } from "./settings/settingTypes.ts"
import type { Settings } from "./settings/Settings.ts"

/** Warns of too few connections, beside the start. */
export const connectionWarning = ({ DATABASE_URL: place }: Settings): Layer.Layer<never> => {
  if (place?.kind !== "postgres") return Layer.empty
  const warn = Effect.flatMap(
    Effect.promise(() => import("./connections.ts")),
    ({ warnOfConnections }) => warnOfConnections(place.url),
  )
  return Layer.effectDiscard(Effect.forkScoped(warn))
}

export type StorageSettings = Pick<Settings, "DATABASE_URL" | "SERVICE_DATA_DIR" | "extensions">

/** The file of the embedded database: that of the settings, unless a module names one. */
export const databaseFile = ({
  SERVICE_DATA_DIR,
  extensions,
}: Pick<StorageSettings, "SERVICE_DATA_DIR" | "extensions">): string => {
  const choice = extensions?.storage?.choice
  return choice?.kind === "sqlite" ? choice.file() : join(SERVICE_DATA_DIR, "tocsin.db")
}

/** The storage that a module writes to, if it has one of its own form. */
export const storageOfModule = ({ DATABASE_URL, extensions }: Omit<StorageSettings, "SERVICE_DATA_DIR">) => {
  const choice = extensions?.storage?.choice
  return DATABASE_URL === undefined && choice?.kind === "keyValue" ? choice : undefined
}

/** The kind of storage, as people read it. */
export const storageKind = (settings: StorageSettings): string => {
  const { DATABASE_URL } = settings
  if (DATABASE_URL === undefined) return storageOfModule(settings)?.name ?? "SQLite"
  return DATABASE_URL.kind === "memory" ? "memory" : "PostgreSQL"
}

/** The name of the storage in the log, without an address, which may hold a password. */
export const storageName = (settings: StorageSettings): string => {
  const kind = storageKind(settings)
  const ofModule = storageOfModule(settings)
  if (ofModule !== undefined) return ofModule.options.name
  if (settings.DATABASE_URL === undefined) return `${kind} in ${databaseFile(settings)}`
  return settings.DATABASE_URL.kind === "memory" ? `${kind}: data is lost when this process ends` : kind
}

/** Called when a storage has failed until it is opened again. */
export type OnStorageLost = (failure: Effect.Effect<never, StorageError>) => void

export const storageLayer = (
  settings: StorageSettings & Partial<Pick<Settings, "SERVICE_STORAGE_TIMEOUT">>,
  onLost?: OnStorageLost,
): Layer.Layer<Storage, StorageError> => {
  const ofModule = storageOfModule(settings)
  if (ofModule !== undefined)
    return Layer.unwrap(
      Effect.promise(
        async () => (await import("tocsin/internal/storages/storages")).layersOf(ofModule).storage,
      ),
    )
  if (settings.DATABASE_URL === undefined) {
    return SqliteStorage.layer({
      file: databaseFile(settings),
      lockTimeout: settings.SERVICE_STORAGE_TIMEOUT,
      log: { onFailed: onLost },
    })
  }
  return settings.DATABASE_URL.kind === "memory"
    ? Layer.unwrap(Effect.promise(async () => (await import("@tocsin/adapter-memory/MemoryStorage")).layer))
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

/** The storage of the settings, if other processes can read it: not memory, nor that of a module. */
export const placeOfSettings = (settings: StorageSettings): StoragePlace | undefined => {
  if (storageOfModule(settings) !== undefined) return undefined
  if (settings.DATABASE_URL === undefined) return sqlitePlace(databaseFile(settings))
  return settings.DATABASE_URL.kind === "postgres" ? postgresPlace(settings.DATABASE_URL.url) : undefined
}

const FORMS =
  "extension for the storage of a module, sqlite:FILE, postgres://user:password@host:port/database with special characters percent-encoded, or env:NAME to read one of these from the environment variable NAME"

/** The storage that a module of the settings gives, as one end of a copy. */
const endOfExtension = Effect.fnUntraced(function* (flag: string, settings: Pick<Settings, "extensions">) {
  const { choice } = settings.extensions?.storage ?? {}
  return (
    (choice && endOf(choice)) ??
    (yield* usageFailure(
      `${flag} is extension, but no module of SERVICE_EXTENSIONS gives a storage that can be copied: name one there`,
    ))
  )
})

/** Reads the value of `flag`. Its messages omit the address, which may hold a password. */
export const endOfFlag = Effect.fnUntraced(function* <E>(
  flag: string,
  given: string,
  settings: Effect.Effect<Pick<Settings, "extensions">, E>,
): Effect.fn.Return<CopyEnd, CommandFailure | E> {
  if (given === EXTENSION) return yield* endOfExtension(flag, yield* settings)
  const variable = /^env:(\w+)$/.exec(given)?.[1]
  const address = variable === undefined ? given : (process.env[variable] ?? "")
  if (variable !== undefined && address === "")
    return yield* usageFailure(`${flag} names a variable that is not set: export ${variable}`)
  const file = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(address)?.[1]
  if (file !== undefined) return sqlitePlace(file)
  const found = database.parse(address)
  if (found?.kind === "postgres") return postgresPlace(found.url)
  return yield* usageFailure(`${flag} takes ${FORMS}`)
})

/** The value of a flag for the storage of a module. */
export const EXTENSION = "extension"

const unready = (message: string) => new CommandFailure({ exit: "storage", message })

/**
 * Requires the current schema. A command must neither migrate the storage of a running older server
 * nor create one in the wrong folder. Opening the storage refuses a newer or unknown schema.
 */
export const requireSchema = Effect.fnUntraced(function* (place: StoragePlace) {
  const state = yield* place.state
  if (state.absent !== undefined) {
    return yield* unready(
      `there is no file ${state.absent}: go to the server's folder, correct SERVICE_DATA_DIR, --from or the module that names it, or create it with tocsin migrate`,
    )
  }
  if (state.applied === 0) {
    return yield* unready(
      `found no Tocsin data in ${place.name}: correct DATABASE_URL, SERVICE_DATA_DIR or --from, or create it with tocsin migrate`,
    )
  }
  if (state.applied < state.known) {
    return yield* unready(
      `${place.name} is at schema ${state.applied} of ${state.known}: run tocsin migrate, or start the server on it once`,
    )
  }
  return state
})

/** The storage of a module is empty: a mistyped place looks like a new one. */
export const noData = (name: string): CommandFailure =>
  unready(
    `found no Tocsin data in ${name}: correct where the module keeps it, or start the server on it once`,
  )

/** Requires a storage that commands can open, with the current schema. */
export const requireStorage = Effect.fnUntraced(function* (settings: StorageSettings) {
  const place = placeOfSettings(settings)
  if (place !== undefined) return yield* Effect.asVoid(requireSchema(place))
  // One process has it: while a server runs, opening it fails.
  if (storageOfModule(settings) !== undefined) return
  return yield* usageFailure(
    "with DATABASE_URL=memory: the data exists only in the server's process; use its API instead",
  )
})
