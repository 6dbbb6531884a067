import { assert, layer } from "@effect/vitest"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { Effect } from "effect"
import type { TransactionRef } from "../../src/transactions/persistChanges.ts"
import { SERVER_RUN } from "../../src/tables/makeTable.ts"
import { resolveUnknownCommit } from "../../src/transactions/commandTransaction.ts"

layer(ScratchPostgres.layer)("the outcome of a transaction whose COMMIT was lost", (it) => {
  it.effect("is known to the primary, for ids that it has assigned and for others", () =>
    Effect.gen(function* () {
      const { replica } = yield* ScratchPostgres
      const { pg, sql } = yield* replica({ maxConnections: 1 })
      // Who asks may write dates in another way than who committed.
      const dated = yield* replica({ settings: { DateStyle: "SQL, DMY", TimeZone: "Asia/Kolkata" } })
      const ref = sql.unsafe<TransactionRef>(
        `SELECT pg_current_xact_id() AS transaction_id, ${SERVER_RUN} AS server_run`,
      )
      const [committed] = yield* ref
      assert(committed !== undefined)
      let aborted = committed
      yield* Effect.exit(
        sql.withTransaction(
          Effect.flatMap(ref, ([row]) => {
            aborted = row ?? aborted
            return Effect.fail("rolled back")
          }),
        ),
      )
      assert.strictEqual(yield* resolveUnknownCommit(pg, committed), "committed")
      assert.strictEqual(yield* resolveUnknownCommit(dated.pg, committed), "committed")
      assert.strictEqual(yield* resolveUnknownCommit(pg, aborted), "aborted")
      // Lost with the end of the server's log: had it been kept, it would have been given out.
      const notGivenOut = { ...committed, transaction_id: committed.transaction_id + 1_000_000n }
      assert.strictEqual(yield* resolveUnknownCommit(pg, notGivenOut), "aborted")
    }),
  )
})
