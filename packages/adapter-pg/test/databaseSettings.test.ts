import { assert, layer } from "@effect/vitest"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { agentRecord } from "@tocsin/testing/records"
import { transact } from "@tocsin/testing/transact"
import { Effect, Layer, Redacted } from "effect"
import { inspectStorage } from "../src/inspection/inspectStorage.ts"
import { migrate } from "../src/migrations/migrate.ts"
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

  it.effect("end waits, idle transactions and sessions: Tocsin's connections have no such limit", () =>
    Effect.gen(function* () {
      const url = yield* databaseWith("idle_in_transaction_session_timeout = '1ms'")
      yield* databaseWith("idle_session_timeout = '1min'")
      yield* databaseWith("lock_timeout = '1ms'")
      const storage = yield* openStorage({ url })
      yield* transact(storage, function* (unit) {
        yield { agents: [agent_id] }
        unit.putAgent(agentRecord("a"))
      })
      assert.strictEqual((yield* storage.agent(agent_id))?.agent_id, agent_id)
      const { replica } = yield* ScratchPostgres
      const { sql } = yield* replica({ maxConnections: 1 })
      const limits = sql`SELECT current_setting('idle_session_timeout') AS idle, current_setting('lock_timeout') AS lock`
      assert.deepStrictEqual(yield* limits, [{ idle: "0", lock: "0" }])
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

  it.effect("hide rows from the user: the start, the inspection and what is read say so", () =>
    Effect.gen(function* () {
      const { replica, url } = yield* ScratchPostgres
      const { sql } = yield* replica({ maxConnections: 1 })
      yield* migrate(sql)
      const [database] = yield* sql<{ name: string }>`SELECT current_database() AS name`
      const role = `${database?.name}_role`
      yield* Effect.acquireRelease(sql.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD 'any'`), () =>
        Effect.orDie(Effect.andThen(sql.unsafe(`DROP OWNED BY ${role}`), sql.unsafe(`DROP ROLE ${role}`))),
      )
      yield* sql.unsafe(`GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`)
      yield* sql.unsafe(`GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${role}`)
      yield* sql.unsafe(`ALTER TABLE agent OWNER TO ${role}`)
      const own = Object.assign(new URL(Redacted.value(url)), { username: role, password: "any" })
      const as = { url: Redacted.make(own.href) }
      const storage = yield* openStorage(as)
      yield* sql`ALTER TABLE agent ENABLE ROW LEVEL SECURITY`
      // The owner sees all rows until it is forced.
      assert.isUndefined(yield* storage.agent(agent_id))
      yield* inspectStorage(as)
      yield* sql`ALTER TABLE agent FORCE ROW LEVEL SECURITY`
      for (const use of [
        Effect.asVoid(storage.agent(agent_id)),
        Effect.asVoid(openStorage(as)),
        Effect.asVoid(inspectStorage(as)),
      ]) {
        assert.match((yield* Effect.flip(use)).message, /^row-level security hides rows/)
      }
    }).pipe(Effect.scoped, Effect.provide(Layer.fresh(ScratchPostgres.layer))),
  )

  // The stories of real servers: PostgreSQL 13.22 and PGlite 0.5.4, whose socket gives all connections one session.
  for (const [name, shadow, message] of [
    [
      "are those of PostgreSQL 13",
      "current_setting(text) RETURNS text LANGUAGE sql AS $$SELECT CASE $1 WHEN 'server_version_num' THEN '130022' ELSE pg_catalog.current_setting($1) END$$",
      /^this version of PostgreSQL is too old: upgrade it to 15 or later$/,
    ],
    [
      "are those of PGlite",
      "version() RETURNS text LANGUAGE sql AS $$SELECT 'PostgreSQL 18.3 (PGlite 0.5.4) on wasm32-unknown-wasi, compiled by emcc (Emscripten) 3.1.74, 32-bit'$$",
      /^this is PGlite, where all connections are one session/,
    ],
  ] as const)
    it.effect(`${name}: the start and the inspection refuse them`, () =>
      Effect.gen(function* () {
        const url = yield* databaseWith("search_path = shadow, pg_catalog, public")
        const { sql } = yield* (yield* ScratchPostgres).replica({ maxConnections: 1 })
        yield* sql`CREATE SCHEMA shadow`
        yield* sql.unsafe(`CREATE FUNCTION shadow.${shadow}`)
        for (const use of [Effect.asVoid(openStorage({ url })), Effect.asVoid(inspectStorage({ url }))]) {
          assert.match((yield* Effect.flip(use)).message, message)
        }
      }).pipe(Effect.scoped, Effect.provide(Layer.fresh(ScratchPostgres.layer))),
    )

  // PostgreSQL prepares the first as SASLprep does, and keeps the second, which has a private character, as it is.
  for (const [name, password] of [
    ["a space of its own width, a ligature and a Roman numeral", "pass\u00a0wo\ufb01rd\u2168"],
    ["a ligature and a private character", "wo\ufb01rd\ue000"],
  ])
    it.effect(`has a user whose password has ${name}: it is the same here`, () =>
      Effect.gen(function* () {
        const { replica, url } = yield* ScratchPostgres
        const { sql } = yield* replica({ maxConnections: 1 })
        const [database] = yield* sql<{ name: string }>`SELECT current_database() AS name`
        const role = `${database?.name}_role`
        yield* Effect.acquireRelease(sql.unsafe(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`), () =>
          Effect.orDie(sql.unsafe(`DROP ROLE ${role}`)),
        )
        const own = Object.assign(new URL(Redacted.value(url)), { username: role, password })
        const as = yield* replica({ url: Redacted.make(own.href), maxConnections: 1 })
        assert.deepStrictEqual(yield* as.sql`SELECT current_user AS name`, [{ name: role }])
      }).pipe(Effect.scoped, Effect.provide(Layer.fresh(ScratchPostgres.layer))),
    )
})
