import * as PgStorage from "@tocsin/adapter-pg/PgStorage"
import { Effect, Layer } from "effect"
import { ScratchPostgres } from "../postgres/ScratchPostgres.ts"

const schema = Layer.unwrap(Effect.map(ScratchPostgres, ({ url }) => PgStorage.layer({ url })))

/** A client of a scratch database that has Tocsin's schema. */
export const migratedPostgres = Layer.provideMerge(schema, ScratchPostgres.layerClient({ maxConnections: 1 }))
