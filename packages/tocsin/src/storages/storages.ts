import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import * as PgClock from "../layers/PgClock.ts"
import * as PgStorage from "../layers/PgStorage.ts"
import * as SqliteStorage from "../layers/SqliteStorage.ts"
import process from "node:process"
import { hasNodeSqlite } from "@tocsin/adapter-sqlite/connection/nodeSqlite"
import type { Storage, StorageError } from "@tocsin/core/ports/Storage"
import { Layer, Redacted } from "effect"
import { isText, group, required } from "@tocsin/client/options/readers"
import * as KeyValueStorage from "@tocsin/adapter-memory/keyValue/KeyValueStorage"

/** A storage in memory, for tests and trials. It ends with the monitor. */
export const memory = (): StorageChoice => ({
  name: "memory",
  // A layer is built once and shared; but each monitor has its own memory.
  layer: Layer.fresh(MemoryStorage.layer),
})

/**
 * One file, durable at every answer, created if absent. Several processes may open it. Needs
 * Node.js 24.15.
 *
 * @param file - The database's file; its folder exists.
 */
export const sqlite = (file: string): StorageChoice => ({
  name: "SQLite",
  problems: [
    // SQLite would end the path at a NUL.
    ...(isText(file) && !file.includes("\0") ? [] : ["sqlite(file) takes the path of the database's file"]),
    ...(hasNodeSqlite()
      ? []
      : [
          `sqlite(file) needs Node.js 24.15 or newer with SQLite 3.51.3, and this is ${process.version} with ${process.versions["sqlite"] ?? "none"}; update Node.js, or use another storage`,
        ]),
  ],
  layer: SqliteStorage.layer({ file }),
})

/**
 * PostgreSQL 15 or newer, for any number of processes. The start creates or migrates the schema;
 * the database's clock decides.
 *
 * @param url - `postgres://user:password@host/database`; never shown or logged.
 */
export const postgres = (url: string): StorageChoice => ({
  name: "PostgreSQL",
  problems: isText(url)
    ? []
    : ["postgres(url) takes an address such as postgres://user:password@host/database"],
  layer: PgStorage.layer({ url: Redacted.make(url) }),
  clock: PgClock.layer({ url: Redacted.make(url) }),
})

/** The result of `memory`, `sqlite`, `postgres` or `keyValue`. */
export interface StorageChoice {
  /** Names the storage in logs; not its address. */
  readonly name: string
  /** The storage as a layer. */
  readonly layer: Layer.Layer<Storage, StorageError>
  /** Problems of its arguments, which refuse the monitor's options. */
  readonly problems?: ReadonlyArray<string> | undefined
  /** The clock that all processes on it share. */
  readonly clock?: Layer.Layer<never, StorageError> | undefined
}

/** A storage, or an Effect layer of the port. */
export type StorageOption = StorageChoice | Layer.Layer<Storage, StorageError>

const read = group<KeyValueStorage.KeyValueOptions>()({
  name: required(isText, "a string that is not empty"),
  open: required((given) => typeof given === "function", "a function that opens the store"),
})

/**
 * A storage over your own key-value store of three functions. It passes the suite of all storages
 * if the store keeps its promises. Monitors of one process with the same choice share one opened
 * store.
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
  return { name: given.name, problems, layer: KeyValueStorage.layer(given) }
}
