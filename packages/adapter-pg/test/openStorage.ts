import { Storage, type StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Context, Effect, Layer, type Scope } from "effect"
import type { PgPoolOptions } from "../src/client/PgPoolOptions.ts"
import * as PgStorage from "../src/PgStorage.ts"

/** One client of a storage, as a replica of the service has it, closed with the scope. */
export const openStorage = (
  options: PgPoolOptions,
): Effect.Effect<Storage["Service"], StorageError, Scope.Scope> =>
  Effect.map(Layer.build(Layer.fresh(PgStorage.layer(options))), (services) => Context.get(services, Storage))
