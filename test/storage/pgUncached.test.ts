import * as PgStorage from "@tocsin/adapter-pg/PgStorage"
import { describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { EmptiedPostgres } from "./EmptiedPostgres.ts"
import { PATIENCE } from "../postgres/ScratchPostgres.ts"
import { ingestRaceSuite } from "@tocsin/testing/ingestRaceSuite"
import { modelSuite } from "@tocsin/testing/model/modelSuite"
import { rollbackSuite } from "@tocsin/testing/rollbackSuite"

const subject = {
  name: "PostgreSQL without cached rows",
  place: EmptiedPostgres.layerOfFile(),
  client: Layer.unwrap(
    Effect.map(EmptiedPostgres, ({ url }) => PgStorage.layer({ url, cacheBytes: 0, ...PATIENCE })),
  ),
}

describe(`storage: ${subject.name}`, () => {
  rollbackSuite(subject)
  ingestRaceSuite(subject)
  // Fewer runs than with the default settings, which use the same code otherwise.
  modelSuite(subject, 25)
})
