import { assert, layer } from "@effect/vitest"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { Effect } from "effect"
import { inspectConnections } from "../../src/inspection/inspectStorage.ts"

layer(ScratchPostgres.layer)("the limit of connections", (it) => {
  it.effect("is PostgreSQL's without the reserved ones, or that of the database or role if lower", () =>
    Effect.gen(function* () {
      const { replica, url } = yield* ScratchPostgres
      const { sql } = yield* replica()
      const [settings] = yield* sql<{ most: number; reserved: number; database: string }>`
        SELECT current_setting('max_connections')::int AS most, current_database() AS database,
               (SELECT sum(setting::int)::int FROM pg_settings WHERE name LIKE '%reserved_connections') AS reserved
      `.unprepared
      const { database = "", most = 0, reserved = 0 } = settings ?? {}
      assert.isAbove(reserved, 0)
      assert.strictEqual(yield* inspectConnections({ url }), most - reserved)
      yield* sql.unsafe(`ALTER DATABASE "${database}" CONNECTION LIMIT 30`)
      assert.strictEqual(yield* inspectConnections({ url }), 30)
      yield* sql.unsafe(`ALTER DATABASE "${database}" CONNECTION LIMIT 100000`)
      assert.strictEqual(yield* inspectConnections({ url }), most - reserved)
    }),
  )
})
