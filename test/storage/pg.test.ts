import * as PgStorage from "@tocsin/adapter-pg/PgStorage"
import { Effect, Layer } from "effect"
import { ScratchPostgres } from "../postgres/ScratchPostgres.ts"
import { storageSuite } from "./storageSuite.ts"

storageSuite({
  name: "PostgreSQL",
  place: ScratchPostgres.layer,
  client: Layer.unwrap(Effect.map(ScratchPostgres, ({ url }) => PgStorage.layer({ url }))),
})
