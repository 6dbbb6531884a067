import { assert, layer } from "@effect/vitest"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { agentRecord } from "@tocsin/testing/records"
import { transact } from "@tocsin/testing/transact"
import { Effect, Layer } from "effect"
import { inspectStorage } from "../src/inspection/inspectStorage.ts"
import { openStorage } from "./openStorage.ts"

const { agent_id } = agentRecord("a")

/** An empty database with one setting. */
const databaseWith = Effect.fnUntraced(function* (setting: string) {
  const { replica, url } = yield* ScratchPostgres
  const { sql } = yield* replica({ maxConnections: 1 })
  const [database] = yield* sql<{ name: string }>`SELECT quote_ident(current_database()) AS name`
  yield* sql.unsafe(`ALTER DATABASE ${database?.name} SET ${setting}`)
  return url
})

layer(Layer.empty)("a database whose settings", (it) => {
  it.effect("read NULL in arrays as a text: it is written all the same", () =>
    Effect.gen(function* () {
      const url = yield* databaseWith("array_nulls = off")
      const storage = yield* openStorage({ url })
      yield* transact(storage, function* (unit) {
        yield { agents: [agent_id] }
        unit.putAgent(agentRecord("a"))
      })
      assert.strictEqual((yield* storage.agent(agent_id))?.agent_id, agent_id)
    }).pipe(Effect.provide(Layer.fresh(ScratchPostgres.layer))),
  )

  it.effect("lead to no schema: the start and the inspection say so", () =>
    Effect.gen(function* () {
      const url = yield* databaseWith("search_path = nowhere")
      for (const use of [Effect.asVoid(openStorage({ url })), Effect.asVoid(inspectStorage({ url }))]) {
        const { message, reason } = yield* Effect.flip(use)
        assert.include(message, "no schema is on the search path")
        assert.strictEqual(reason, "unavailable")
      }
    }).pipe(Effect.provide(Layer.fresh(ScratchPostgres.layer))),
  )

  it.effect("close idle transactions and sessions: Tocsin's connections have no such limit", () =>
    Effect.gen(function* () {
      const url = yield* databaseWith("idle_in_transaction_session_timeout = '1ms'")
      yield* databaseWith("idle_session_timeout = '1min'")
      const storage = yield* openStorage({ url })
      yield* transact(storage, function* (unit) {
        yield { agents: [agent_id] }
        unit.putAgent(agentRecord("a"))
      })
      assert.strictEqual((yield* storage.agent(agent_id))?.agent_id, agent_id)
      const { replica } = yield* ScratchPostgres
      const { sql } = yield* replica({ maxConnections: 1 })
      assert.deepStrictEqual(yield* sql`SELECT current_setting('idle_session_timeout') AS idle`, [
        { idle: "0" },
      ])
    }).pipe(Effect.provide(Layer.fresh(ScratchPostgres.layer))),
  )

  it.effect("limit transactions: Tocsin's connections have no such limit", () =>
    Effect.gen(function* () {
      const { replica } = yield* ScratchPostgres
      const limit = "SELECT current_setting('transaction_timeout', true) AS lasts"
      const { sql } = yield* replica({ maxConnections: 1 })
      const [before] = yield* sql.unsafe<{ lasts: string | null }>(limit)
      // PostgreSQL has the setting since version 17.
      if (before?.lasts === null) return
      yield* databaseWith("transaction_timeout = '1min'")
      const later = yield* replica({ maxConnections: 1 })
      assert.deepStrictEqual(yield* later.sql.unsafe(limit), [{ lasts: "0" }])
    }).pipe(Effect.provide(Layer.fresh(ScratchPostgres.layer))),
  )

  it.effect("run no trigger: the start and the inspection refuse them", () =>
    Effect.gen(function* () {
      const url = yield* databaseWith("session_replication_role = replica")
      for (const use of [Effect.asVoid(openStorage({ url })), Effect.asVoid(inspectStorage({ url }))]) {
        assert.include((yield* Effect.flip(use)).message, "session_replication_role is replica")
      }
    }).pipe(Effect.provide(Layer.fresh(ScratchPostgres.layer))),
  )
})
