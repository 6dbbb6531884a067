import * as MemoryStorage from "@tocsin/core/memory/MemoryStorage"
import * as PgClock from "../layers/PgClock.ts"
import * as PgStorage from "../layers/PgStorage.ts"
import * as SqliteStorage from "../layers/SqliteStorage.ts"
import process from "node:process"
import { hasNodeSqlite } from "@tocsin/adapter-sqlite/connection/nodeSqlite"
import type { Storage, StorageError } from "@tocsin/core/ports/Storage"
import { Layer, Redacted } from "effect"
import { isText } from "@tocsin/client/options/readers"

/** Keeps nothing beyond the process: for tests, and for trying things out. */
export const memory = (): StorageChoice => ({
  name: "memory",
  // A layer is built once and shared; every monitor has a memory of its own.
  layer: Layer.fresh(MemoryStorage.layer),
})

/**
 * One file, durable at every answer, created where there is none. Several processes may have it
 * open. Needs Node.js 24.
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
          `sqlite(file) needs Node.js 24 or newer, and this is ${process.version}; update Node.js, or use another storage`,
        ]),
  ],
  layer: SqliteStorage.layer({ file }),
})

/**
 * PostgreSQL 15 or newer, for any number of processes at once. The schema is made and brought up to
 * date at start; the database's clock decides.
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

/**
 * Where a monitor keeps its state: the result of `memory`, `sqlite`, `postgres` or `keyValue`.
 * Whoever uses Effect may give a layer of the port instead.
 */
export interface StorageChoice {
  /** What it is, for logs: no address. */
  readonly name: string
  /** The port on it. */
  readonly layer: Layer.Layer<Storage, StorageError>
  /**
   * What is wrong with what it was given, for the message that refuses it; `layer` is not built
   * then.
   */
  readonly problems?: ReadonlyArray<string> | undefined
  /** The clock that all its clients agree on, where it has one. */
  readonly clock?: Layer.Layer<never, StorageError> | undefined
}

/** A storage, in either form. */
export type StorageOption = StorageChoice | Layer.Layer<Storage, StorageError>
