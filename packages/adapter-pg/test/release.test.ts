import { assert, layer } from "@effect/vitest"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { releases } from "@tocsin/test/release/releases"
import { Effect } from "effect"

layer(ScratchPostgres.layer)("PostgreSQL", (it) => {
  it.effect("has a pool whose statements leave neither a timer nor a connection", () =>
    Effect.gen(function* () {
      const { replica } = yield* ScratchPostgres
      const { pg, sql } = yield* replica({ maxConnections: 3 })
      yield* sql`SELECT 1`
      const run = Effect.runPromiseWith(yield* Effect.context<never>())
      const { total } = yield* pg.poolStatus
      const uses = {
        "a statement": () => run(sql`SELECT 1`),
        "a statement that fails": () => run(Effect.flip(sql.unsafe("SELECT nothing"))),
        "a transaction that fails": () =>
          run(Effect.flip(sql.withTransaction(Effect.andThen(sql`SELECT 1`, Effect.fail("no"))))),
      }
      const open = async () => ({ uses, close: async () => {} })
      yield* Effect.promise(() => releases(async () => ({ open })))
      assert.deepInclude(yield* pg.poolStatus, { total, idle: total, waiting: 0 })
    }),
  )
})
