import * as PgStorage from "@tocsin/adapter-pg/PgStorage"
import { PgClient } from "@tocsin/adapter-pg/client/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { checkRemovalSuite } from "@tocsin/testing/checkRemovalSuite"
import { alertClaimSuite } from "@tocsin/testing/alertClaimSuite"
import { claimSuite } from "@tocsin/testing/claimSuite"
import { ingestRaceSuite } from "@tocsin/testing/ingestRaceSuite"
import { rollbackSuite } from "@tocsin/testing/rollbackSuite"
import { rowRequestSuite } from "@tocsin/testing/rowRequestSuite"
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
  rowRequestSuite(subject)
  claimSuite(subject)
  alertClaimSuite(subject)
  checkRemovalSuite(subject)
  rollbackSuite(subject)
  ingestRaceSuite(subject)

  it.live("time limits hold behind the pooler, on a session of another client", () =>
    Effect.gen(function* () {
      const { url } = yield* EmptiedPostgres
      const limitOf = (limits: { readonly statementTimeout?: Duration.Duration }) =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const [row] = yield* sql<{ limit: string }>`SELECT current_setting('statement_timeout') AS "limit"`
          return row?.limit
        }).pipe(Effect.provide(PgClient.layer({ url, ...limits })))
      assert.strictEqual(yield* limitOf({ statementTimeout: Duration.seconds(7) }), "7s")
      assert.strictEqual(yield* limitOf({}), "0")
      assert.strictEqual(yield* limitOf({ statementTimeout: Duration.seconds(3) }), "3s")
    }).pipe(Effect.provide(place), Effect.scoped),
  )
})
