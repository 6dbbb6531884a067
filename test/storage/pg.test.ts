import * as PgStorage from "@tocsin/adapter-pg/PgStorage"
import { Effect, Layer } from "effect"
import { EmptiedPostgres } from "./EmptiedPostgres.ts"
import { storageSuite } from "@tocsin/testing/storageSuite"

storageSuite({
  name: "PostgreSQL",
  place: EmptiedPostgres.layerOfFile(),
  client: Layer.unwrap(Effect.map(EmptiedPostgres, ({ url }) => PgStorage.layer({ url }))),
})
