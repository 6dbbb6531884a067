import * as PgStorage from "@tocsin/adapter-pg/PgStorage"
import { describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { EmptiedPostgres } from "./EmptiedPostgres.ts"
import { inTurn } from "./inTurn.ts"
import { modelSuite } from "@tocsin/testing/model/modelSuite"

const client = Layer.unwrap(Effect.map(EmptiedPostgres, ({ url }) => PgStorage.layer({ url })))

const subject = {
  name: "two instances on one PostgreSQL, in turn",
  place: EmptiedPostgres.layerOfFile(),
  client: inTurn(client),
}

describe(`storage: ${subject.name}`, () => {
  // Fewer than for the usual settings, on which the rest of the storage is the same.
  modelSuite(subject, 25)
})
