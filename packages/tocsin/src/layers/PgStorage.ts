// Loaded when a layer is built: programs on other storages do without the driver.
import type { PgStorageOptions } from "@tocsin/adapter-pg/PgStorage"
import type { Storage, StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect, Layer } from "effect"

export type { PgStorageOptions }

/** The port Storage on PostgreSQL 15 or newer, whose schema is brought up to date at the start. */
export const layer = (options: PgStorageOptions): Layer.Layer<Storage, StorageError> =>
  Layer.unwrap(Effect.promise(async () => (await import("@tocsin/adapter-pg/PgStorage")).layer(options)))
