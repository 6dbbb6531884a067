// Loaded when a layer is built: programs on other storages do without it.
import type { SqliteStorageOptions } from "@tocsin/adapter-sqlite/SqliteStorage"
import type { Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect, Layer } from "effect"

export type { SqliteStorageOptions }

/** The port Storage on a file of SQLite, brought up to date at the start. Needs Node.js 24.22.1. */
export const layer = (options: SqliteStorageOptions): Layer.Layer<Storage, StorageError> =>
  Layer.unwrap(
    Effect.promise(async () => (await import("@tocsin/adapter-sqlite/SqliteStorage")).layer(options)),
  )
