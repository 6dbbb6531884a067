import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import * as PgClock from "../layers/PgClock.ts"
import * as PgStorage from "../layers/PgStorage.ts"
import * as SqliteStorage from "../layers/SqliteStorage.ts"
import process from "node:process"
import { hasNodeSqlite } from "@tocsin/adapter-sqlite/connection/nodeSqlite"
import type { Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Layer, Redacted } from "effect"
import { isText, group, required } from "@tocsin/client/options/readers"
import * as KeyValueStorage from "@tocsin/adapter-memory/keyValue/KeyValueStorage"

/** A storage in memory, for tests and trials. It ends with the monitor. */
export const memory = (): StorageChoice => ({ name: "memory", kind: "memory" })

/** One file, durable at every answer, created if absent, for several processes. Needs Node.js 24.22.1. */
export const sqlite = (file: string): StorageChoice => ({
  name: "SQLite",
  kind: "sqlite",
  file: () => file,
  problems: [
    // SQLite would end the path at a NUL.
    ...(isText(file) && !file.includes("\0") ? [] : ["sqlite(file) takes the path of the database's file"]),
    // SQLite would read an address, and Tocsin a folder of that name, or a file.
    ...(isText(file) && /^\s*(?:file|(?:jdbc:)?sqlite3?|libsql):/i.test(file)
      ? ["sqlite(file) takes a path, not an address: write monitoring.db, or fileURLToPath(new URL(…))"]
      : []),
    ...(hasNodeSqlite()
      ? []
      : [
          `sqlite(file) needs Node.js 24.22.1 or newer with SQLite 3.51.3, and this is ${process.version} with ${process.versions["sqlite"] ?? "none"}; update Node.js, or use another storage`,
        ]),
  ],
})

/** PostgreSQL 15 or newer, for any number of processes. The address is never shown or logged. */
export const postgres = (url: string): StorageChoice => ({
  name: "PostgreSQL",
  kind: "postgres",
  url: () => url,
  problems: isText(url)
    ? []
    : ["postgres(url) takes an address such as postgres://user:password@host/database"],
})

interface Chosen {
  /** Names the storage in logs; not its address. */
  readonly name: string
  /** Problems of its arguments, which refuse the monitor's options. */
  readonly problems?: ReadonlyArray<string> | undefined
}

/**
 * A storage to choose. It holds no layer, so that `tocsin/testing/storage` opens it with another copy of
 * Effect. A function keeps an address out of logs.
 */
export type StorageChoice = Chosen &
  (
    | { readonly kind: "memory" }
    | { readonly kind: "sqlite"; readonly file: () => string }
    | { readonly kind: "postgres"; readonly url: () => string }
    | { readonly kind: "keyValue"; readonly options: KeyValueStorage.KeyValueOptions }
  )

interface StorageLayers {
  readonly storage: Layer.Layer<Storage, StorageError>
  /** The clock that all processes on it share. */
  readonly clock?: Layer.Layer<never, StorageError> | undefined
}

const kinds = new Set<unknown>(["memory", "sqlite", "postgres", "keyValue"] satisfies Array<
  StorageChoice["kind"]
>)

/** Whether a program gave the result of `memory`, `sqlite`, `postgres` or `keyValue`. */
export const isStorageChoice = (given: unknown): given is StorageChoice => kinds.has(Object(given).kind)

const makeLayers = (choice: StorageChoice): StorageLayers => {
  switch (choice.kind) {
    case "memory":
      // A layer is built once and shared; but each monitor has its own memory.
      return { storage: Layer.fresh(MemoryStorage.layer) }
    case "sqlite":
      return { storage: SqliteStorage.layer({ file: choice.file() }) }
    case "postgres": {
      const url = Redacted.make(choice.url())
      return { storage: PgStorage.layer({ url }), clock: PgClock.layer({ url }) }
    }
    case "keyValue":
      return { storage: KeyValueStorage.layer(choice.options) }
  }
}

const made = new WeakMap<StorageChoice, StorageLayers>()

/** The layers of a storage: those of one choice are the same, so that monitors share an opened store. */
export const layersOf = (choice: StorageChoice): StorageLayers => {
  const layers = made.get(choice) ?? makeLayers(choice)
  made.set(choice, layers)
  return layers
}

const read = group<KeyValueStorage.KeyValueOptions>()({
  name: required(isText, "a string that is not empty"),
  open: required((given) => typeof given === "function", "a function that opens the store"),
})

/**
 * A storage over your own key-value store of three functions. Monitors of one process with the same choice
 * share one opened store.
 *
 * @example
 * ```ts
 * const storage = keyValue({ name: "LevelDB", open: async () => levelStore(await openLevel("monitoring")) })
 * const monitor = await createMonitor({ storage })
 * ```
 */
export const keyValue = (options: KeyValueStorage.KeyValueOptions): StorageChoice => {
  const problems: Array<string> = []
  const given = Object(options) as KeyValueStorage.KeyValueOptions
  read("", Object(options), (problem) => void problems.push(`keyValue: ${problem}`))
  return { name: given.name, kind: "keyValue", options: given, problems }
}
