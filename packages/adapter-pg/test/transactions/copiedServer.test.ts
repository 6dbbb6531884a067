import { assert, describe, it } from "@effect/vitest"
import { startPostgres } from "@tocsin/test/postgres/startPostgres"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { PgClient } from "../../src/client/PgClient.ts"
import { SERVER_RUN } from "../../src/tables/makeTable.ts"
import type { TransactionRef } from "../../src/transactions/persistChanges.ts"
import { resolveUnknownCommit } from "../../src/transactions/commandTransaction.ts"

const connect = (url: string) =>
  Effect.map(Layer.build(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })), (services) => ({
    sql: Context.get(services, SqlClient.SqlClient),
    pg: Context.get(services, PgClient),
  }))

type Server = Effect.Success<ReturnType<typeof connect>>

/** Commits something, and tells what it takes to ask for it later. */
const commit = ({ sql }: Server) =>
  Effect.flatMap(
    sql.unsafe<TransactionRef>(`SELECT pg_current_xact_id() AS transaction_id, ${SERVER_RUN} AS server_run`),
    ([ref]) => (ref === undefined ? Effect.die("no transaction") : Effect.succeed(ref)),
  )

const statisticsOf = ({ sql }: Server) =>
  sql`SELECT extract(epoch FROM pg_stat_get_bgwriter_stat_reset_time())::text AS reset`

describe("a server that takes over from a copy of the files", () => {
  it.live("assigns the same transaction ids, and does not vouch for those of the former server", () =>
    Effect.gen(function* () {
      const { copy, url } = yield* Effect.acquireRelease(Effect.promise(startPostgres), ({ stop }) =>
        Effect.promise(stop),
      )
      const copied = yield* Effect.promise(copy)
      const [former, other] = [yield* connect(url), yield* connect(copied)]
      assert.deepStrictEqual(yield* statisticsOf(former), yield* statisticsOf(other))
      let [lost, foreign] = [yield* commit(former), yield* commit(other)]
      while (lost.transaction_id !== foreign.transaction_id) {
        if (lost.transaction_id < foreign.transaction_id) lost = yield* commit(former)
        else foreign = yield* commit(other)
      }
      assert.strictEqual(yield* resolveUnknownCommit(former.pg, lost), "committed")
      assert.strictEqual(yield* resolveUnknownCommit(other.pg, foreign), "committed")
      const error = yield* Effect.flip(resolveUnknownCommit(other.pg, lost))
      assert.strictEqual(error.reason, "unavailable")
      assert.isTrue(error.isUnknown)
    }),
  )
})
