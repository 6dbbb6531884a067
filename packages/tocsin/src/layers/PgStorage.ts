/**
 * The storage on PostgreSQL. Its driver is loaded when a layer is built: programs on other storages
 * do without it.
 */
import type { PgStorageOptions } from "@tocsin/adapter-pg/PgStorage"
import type { Storage, StorageError } from "@tocsin/core/ports/Storage"
import { Effect, Layer } from "effect"

export type { PgStorageOptions }

/**
 * The port Storage on a database of PostgreSQL 15 or newer, whose schema is made and brought up to
 * date at start.
 */
export const layer = (options: PgStorageOptions): Layer.Layer<Storage, StorageError> =>
  Layer.unwrap(
    Effect.map(
      Effect.promise(() => import("@tocsin/adapter-pg/PgStorage")),
      (module) => module.layer(options),
    ),
  )
