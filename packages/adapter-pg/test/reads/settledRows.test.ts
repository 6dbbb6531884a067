import { assert, layer } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { Deferred, Effect, Fiber } from "effect"
import type { SqlClient } from "effect/sql"
import { migrate } from "../../src/migrations/migrate.ts"
import { readingSettledHistory, settledIncidents } from "../../src/reads/settledRows.ts"

const insert = (sql: SqlClient.SqlClient, receivedAt: number) =>
  sql.unsafe(`INSERT INTO check_event (agent_id, registration_id, check_id, event_id, observed_at, received_at,
    status, exit_code, duration_ms, output_truncated, notifications_enabled)
    VALUES ('a', gen_random_uuid(), 'c', gen_random_uuid(), 0, ${receivedAt}, 'ok', 0, 0, false, true)`)

const at = (micros: number) => Instant.fromMicros(BigInt(micros))

layer(ScratchPostgres.layerMigrated)("rows of transactions that have not ended", (it) => {
  it.effect("are not passed by an export", () =>
    Effect.gen(function* () {
      const scratch = yield* ScratchPostgres
      const { pg, sql } = yield* scratch.replica()
      const writer = yield* scratch.replica()
      yield* migrate(sql)
      const settledHistory = readingSettledHistory(pg)
      const span = { from: at(10), to: at(100) }
      for (const receivedAt of [5, 20, 30]) yield* insert(sql, receivedAt)
      assert.deepStrictEqual(yield* settledHistory(span), { first: 2, last: 3, settled: 3 })
      const written = yield* Deferred.make<void>()
      const end = yield* Deferred.make<void>()
      const writing = yield* Effect.forkScoped(
        writer.sql.withTransaction(
          insert(writer.sql, 25).pipe(
            Effect.andThen(writer.sql`UPDATE incident SET id = id WHERE false`),
            Effect.andThen(Deferred.succeed(written, undefined)),
            Effect.andThen(Deferred.await(end)),
          ),
        ),
      )
      yield* Deferred.await(written)
      for (const receivedAt of [40, 15, 200]) yield* insert(sql, receivedAt)
      assert.deepStrictEqual(yield* settledHistory(span), { first: 2, last: 3, settled: 3 })
      assert.deepStrictEqual(yield* settledHistory(span, 3), { first: 0, last: 0, settled: 3 })
      assert.deepStrictEqual(yield* settledHistory({ from: at(150), to: at(300) }), {
        first: 0,
        last: 0,
        settled: 3,
      })
      // Another process does not know that no row before has a gap, and looks for the first one.
      assert.deepStrictEqual(yield* readingSettledHistory(pg)(span), { first: 2, last: 3, settled: 3 })
      assert.isDefined(yield* settledIncidents(pg))
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.join(writing)
      assert.deepStrictEqual(yield* settledHistory(span, 3), { first: 4, last: 6, settled: 7 })
      assert.isUndefined(yield* settledIncidents(pg))
    }),
  )
})
