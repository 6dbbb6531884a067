import { PgClient } from "@tocsin/adapter-pg/client/PgClient"
import { assert, describe, it } from "@effect/vitest"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Duration, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { claimSuite } from "@tocsin/testing/claimSuite"
import { rollbackSuite } from "@tocsin/testing/rollbackSuite"
import { storageSuite } from "@tocsin/testing/storageSuite"
import { skippedFor, type StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { AT_LENGTH } from "../properties/atLength.ts"
import { throughPgBouncer, withoutPgBouncer, withoutTransactionMode } from "../postgres/pgBouncer.ts"
import { EmptiedPostgres } from "./EmptiedPostgres.ts"

const through = (mode: "session" | "transaction") => {
  const place = Layer.effect(
    EmptiedPostgres,
    Effect.flatMap(EmptiedPostgres, ({ sql, url }) =>
      Effect.map(throughPgBouncer(url, mode), (pooled) => ({ url: pooled, sql })),
    ),
  ).pipe(Layer.provide(EmptiedPostgres.layerOfFile()))
  return {
    name: `PostgreSQL behind PgBouncer in ${mode} mode`,
    place,
    client: EmptiedPostgres.client,
  }
}

const suites = (subject: StorageUnderTest<EmptiedPostgres, SqlError.SqlError | StorageError>) => {
  // All suites take a minute and prove little more than those that pin sessions and lock.
  if (AT_LENGTH) return storageSuite(subject)
  claimSuite(subject)
  rollbackSuite(subject)
}

describe.skipIf(withoutPgBouncer !== undefined)(`through a pooler${skippedFor(withoutPgBouncer)}`, () => {
  const subject = through("session")
  suites(subject)

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
    }).pipe(Effect.provide(subject.place), Effect.scoped),
  )
})

describe.skipIf(withoutTransactionMode !== undefined)(
  `through a pooler in transaction mode${skippedFor(withoutTransactionMode)}`,
  () => {
    suites({ ...through("transaction"), noHints: "LISTEN hears nothing in transaction mode" })
  },
)
