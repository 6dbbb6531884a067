import * as PgStorage from "@tocsin/adapter-pg/PgStorage"
import { describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { checkRemovalSuite } from "@tocsin/testing/checkRemovalSuite"
import { claimSuite } from "@tocsin/testing/claimSuite"
import { ingestRaceSuite } from "@tocsin/testing/ingestRaceSuite"
import { rollbackSuite } from "@tocsin/testing/rollbackSuite"
import { scopeSuite } from "@tocsin/testing/scopeSuite"
import { throughPgBouncer, withoutPgBouncer } from "../postgres/pgBouncer.ts"
import { EmptiedPostgres } from "./EmptiedPostgres.ts"

const place = Layer.effect(
  EmptiedPostgres,
  Effect.map(
    Effect.flatMap(EmptiedPostgres, ({ url }) => throughPgBouncer(url)),
    (url) => ({ url }),
  ),
).pipe(Layer.provide(EmptiedPostgres.layerOfFile()))

const skipped = withoutPgBouncer === undefined ? "" : ` (skipped: ${withoutPgBouncer})`

describe.skipIf(withoutPgBouncer !== undefined)(`through a pooler${skipped}`, () => {
  const subject = {
    name: "PostgreSQL behind PgBouncer in session mode",
    place,
    client: Layer.unwrap(Effect.map(EmptiedPostgres, ({ url }) => PgStorage.layer({ url }))),
  }
  scopeSuite(subject)
  claimSuite(subject)
  checkRemovalSuite(subject)
  rollbackSuite(subject)
  ingestRaceSuite(subject)
})
