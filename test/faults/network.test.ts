import { sqlStateOf } from "@tocsin/adapter-pg/toStorageError"
import { PgClient } from "@tocsin/adapter-pg/client/PgClient"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ScratchPostgres } from "../postgres/ScratchPostgres.ts"
import { throughProtocol } from "../postgres/throughProtocol.ts"
import { conflicts, lostCommits } from "./network.ts"

/** A client whose way makes trouble in each case once it is switched on. */
const openClient = Effect.fnUntraced(function* (intercept: typeof lostCommits) {
  const { url } = yield* ScratchPostgres
  const trouble = { isOn: false }
  const through = yield* throughProtocol(url, intercept({ isOn: () => trouble.isOn, random: () => 0 }))
  const services = yield* Layer.build(PgClient.layer({ url: through, maxConnections: 1 }))
  return { sql: Context.get(services, SqlClient.SqlClient), trouble }
})

layer(ScratchPostgres.layer)("faults of the network", (it) => {
  it.effect("have PostgreSQL refuse a statement, and leave the connection usable", () =>
    Effect.gen(function* () {
      const { sql, trouble } = yield* openClient(conflicts("40P01"))
      yield* sql`CREATE TABLE scenario (line text)`
      trouble.isOn = true
      const refused = yield* Effect.flip(sql.withTransaction(sql`INSERT INTO scenario VALUES ('refused')`))
      assert.strictEqual(sqlStateOf(refused), "40P01")
      trouble.isOn = false
      yield* sql.withTransaction(sql`INSERT INTO scenario VALUES ('kept')`)
      assert.deepStrictEqual(yield* sql`SELECT line FROM scenario`, [{ line: "kept" }])
    }),
  )

  it.effect("lose the answer to a COMMIT that PostgreSQL has carried out", () =>
    Effect.gen(function* () {
      const { sql, trouble } = yield* openClient(lostCommits)
      yield* sql`CREATE TABLE other_story (line text)`
      trouble.isOn = true
      const lost = yield* Effect.flip(sql.withTransaction(sql`INSERT INTO other_story VALUES ('kept')`))
      assert.deepInclude(lost.reason, { _tag: "ConnectionError", operation: "commit" })
      trouble.isOn = false
      assert.deepStrictEqual(yield* sql`SELECT line FROM other_story`, [{ line: "kept" }])
    }),
  )
})
