// Loaded when a layer is built: programs on other storages do without the driver.
import type { PgStorageOptions } from "@tocsin/adapter-pg/PgStorage"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect, Layer } from "effect"

/** Effect's Clock, corrected by the database's, so that all replicas agree on the time. */
export const layer = (options: PgStorageOptions): Layer.Layer<never, StorageError> =>
  Layer.unwrap(Effect.promise(async () => (await import("@tocsin/adapter-pg/PgClock")).layer(options)))
