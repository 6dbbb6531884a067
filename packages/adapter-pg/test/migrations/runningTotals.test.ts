import { assert, layer } from "@effect/vitest"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { migrate, migrations } from "../../src/migrations/migrate.ts"

const insertAgents = (from: number, to: number): string => `
  INSERT INTO agent (agent_id, registration_id, admission_state, hostname, features, observed_at, last_seen_at, registered_at,
                     key_fingerprint, heartbeat_incident_id, checks_ok, checks_warning, checks_critical, checks_unknown)
  SELECT 'agent-' || n, md5('registration ' || n)::uuid, CASE WHEN n % 5 = 0 THEN 'pending' ELSE 'accepted' END, 'host',
         '{}', n, n, n, 'fingerprint', CASE WHEN n % 7 = 0 THEN 'incident' END, n, n + 1, n + 2, n + 3
  FROM generate_series(${from}, ${to}) AS n`

/** Three of ten are resolved. */
const insertIncidents = (from: number, to: number): string => `
  INSERT INTO incident (id, kind, incident_key, state, severity, opener_agent_id, opener_check_id, opened_at, resolved_at,
                        member_changes, members_warning, members_unknown, members_critical, log_entries)
  SELECT 'incident-' || n, 'automatic', 'key-' || n, CASE WHEN n % 10 < 3 THEN 'resolved' ELSE 'open' END, 'critical', 'agent', 'check',
         n, CASE WHEN n % 10 < 3 THEN n END, 1, 0, 0, 1, 0
  FROM generate_series(${from}, ${to}) AS n`

/** The stored and the expected totals. */
const totals = (sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    const [kept] = yield* sql`
      SELECT sum(agents_accepted)::int4 AS accepted, sum(agents_pending)::int4 AS pending, sum(agents_dead)::int4 AS dead, sum(checks_ok)::int4 AS ok,
             sum(checks_warning)::int4 AS warning, sum(checks_critical)::int4 AS critical, sum(checks_unknown)::int4 AS unknown
      FROM system_total`
    const [counted] = yield* sql`
      SELECT count(*) FILTER (WHERE admission_state = 'accepted')::int4 AS accepted,
             count(*) FILTER (WHERE admission_state = 'pending')::int4 AS pending,
             count(*) FILTER (WHERE admission_state = 'accepted' AND heartbeat_incident_id IS NOT NULL)::int4 AS dead,
             sum(checks_ok)::int4 AS ok, sum(checks_warning)::int4 AS warning, sum(checks_critical)::int4 AS critical,
             sum(checks_unknown)::int4 AS unknown
      FROM agent`
    return { kept, counted }
  })

layer(ScratchPostgres.layer)("running totals", (it) => {
  it.effect("follow every writer, before and after the migration that lets acceptances leave", () =>
    Effect.gen(function* () {
      const { sql } = yield* (yield* ScratchPostgres).replica()
      yield* migrate(sql, { known: migrations.slice(0, 1) })
      const verify = Effect.map(totals(sql), ({ kept, counted }) => assert.deepStrictEqual(kept, counted))
      yield* sql.unsafe(insertAgents(1, 100))
      yield* migrate(sql)
      yield* verify
      yield* sql.unsafe(insertAgents(101, 200))
      yield* verify
      yield* sql.unsafe("UPDATE agent SET last_seen_at = 0, hostname = 'other'")
      yield* sql.unsafe("UPDATE agent SET checks_ok = checks_ok - 1, checks_critical = checks_critical + 1")
      yield* sql.unsafe("UPDATE agent SET heartbeat_incident_id = NULL WHERE registered_at < 50")
      yield* verify
      yield* sql.unsafe("UPDATE agent SET admission_state = 'accepted' WHERE registered_at < 101")
      yield* verify
      yield* sql.unsafe("DELETE FROM agent WHERE registered_at % 3 = 0")
      yield* verify
      yield* sql.unsafe("DELETE FROM agent")
      assert.deepStrictEqual((yield* totals(sql)).kept, {
        accepted: 0,
        pending: 0,
        dead: 0,
        ok: 0,
        warning: 0,
        critical: 0,
        unknown: 0,
      })
    }),
  )

  it.effect("count the incidents that any statement opens or resolves", () =>
    Effect.gen(function* () {
      const scratch = yield* Layer.build(Layer.fresh(ScratchPostgres.layer))
      const { replica } = yield* Effect.provide(ScratchPostgres, scratch)
      const { sql } = yield* replica()
      yield* migrate(sql)
      yield* sql.unsafe(insertIncidents(1, 10))
      const verify = Effect.gen(function* () {
        const [{ kept, counted } = { kept: -1, counted: -2 }] = yield* sql<{
          kept: number
          counted: number
        }>`
          SELECT (SELECT sum(incidents_open)::int4 FROM system_total) AS kept,
                 (SELECT count(*)::int4 FROM incident WHERE state = 'open') AS counted`
        assert.strictEqual(kept, counted)
        return kept
      })
      assert.strictEqual(yield* verify, 7)
      yield* sql.unsafe(insertIncidents(11, 20))
      assert.strictEqual(yield* verify, 14)
      yield* sql.unsafe("UPDATE incident SET ack_note = 'seen', log_entries = log_entries + 1")
      assert.strictEqual(yield* verify, 14)
      yield* sql.unsafe("UPDATE incident SET state = 'resolved', resolved_at = 100 WHERE opened_at % 2 = 0")
      yield* verify
      // A row that exists is updated by an insertion.
      yield* sql.unsafe(
        `${insertIncidents(18, 22)} ON CONFLICT (id) DO UPDATE SET state = 'open', resolved_at = NULL`,
      )
      yield* verify
      yield* sql.unsafe("DELETE FROM incident WHERE opened_at > 12")
      yield* verify
      yield* sql.unsafe("DELETE FROM incident")
      assert.strictEqual(yield* verify, 0)
      yield* sql.unsafe(insertIncidents(1, 10))
      yield* sql.unsafe("TRUNCATE incident CASCADE")
      assert.strictEqual(yield* verify, 0)
    }),
  )

  it.effect("are updated once by a statement that inserts or deletes agents, and stay in few pages", () =>
    Effect.gen(function* () {
      const scratch = yield* Layer.build(Layer.fresh(ScratchPostgres.layer))
      const { replica } = yield* Effect.provide(ScratchPostgres, scratch)
      const { sql } = yield* replica({ maxConnections: 1 })
      yield* migrate(sql)
      const updates = Effect.gen(function* () {
        yield* sql`SELECT pg_stat_force_next_flush()`
        const [row] = yield* sql<{ updates: number; pages: number }>`
          SELECT (n_tup_upd + n_tup_del)::int4 AS updates, (pg_relation_size('system_total') / 8192)::int4 AS pages
          FROM pg_stat_user_tables WHERE relname = 'system_total'`
        return row ?? { updates: -1, pages: -1 }
      })
      const before = yield* updates
      yield* sql.withTransaction(
        Effect.andThen(sql.unsafe(insertAgents(1, 2_000)), sql.unsafe(insertAgents(2_001, 4_000))),
      )
      yield* sql.unsafe("UPDATE agent SET last_seen_at = 0, hostname = 'other'")
      yield* sql.unsafe("DELETE FROM agent")
      const after = yield* updates
      assert.isAtMost(after.updates - before.updates, 3)
      assert.isAtMost(after.pages, 3)
    }),
  )

  it.effect("are counted again where a writer ran no trigger", () =>
    Effect.gen(function* () {
      const scratch = yield* Layer.build(Layer.fresh(ScratchPostgres.layer))
      const { replica } = yield* Effect.provide(ScratchPostgres, scratch)
      const { sql } = yield* replica({ maxConnections: 1 })
      yield* migrate(sql)
      yield* sql.unsafe(insertAgents(1, 20))
      yield* sql.withTransaction(
        Effect.andThen(
          sql`SET LOCAL session_replication_role = replica`,
          Effect.andThen(sql.unsafe(insertAgents(21, 40)), sql.unsafe(insertIncidents(1, 10))),
        ),
      )
      const wrong = yield* totals(sql)
      assert.notDeepEqual(wrong.kept, wrong.counted)
      yield* sql`SELECT recount_system_total()`
      const repaired = yield* totals(sql)
      assert.deepStrictEqual(repaired.kept, repaired.counted)
      const [open] = yield* sql`SELECT sum(incidents_open)::int4 AS open FROM system_total`
      assert.deepStrictEqual(open, { open: 7 })
    }),
  )

  it.effect("make no transaction wait for another one", () =>
    Effect.gen(function* () {
      const scratch = yield* Layer.build(Layer.fresh(ScratchPostgres.layer))
      const { replica } = yield* Effect.provide(ScratchPostgres, scratch)
      const one = yield* replica({ maxConnections: 1 })
      const other = yield* replica({ maxConnections: 1 })
      yield* migrate(one.sql)
      yield* one.sql.unsafe(insertAgents(1, 2))
      const change = (sql: SqlClient.SqlClient, id: string) =>
        sql`UPDATE agent SET checks_ok = checks_ok + 1 WHERE agent_id = ${id}`
      yield* one.sql.withTransaction(
        Effect.andThen(
          change(one.sql, "agent-1"),
          other.sql.withTransaction(
            Effect.andThen(other.sql`SET LOCAL lock_timeout = 100`, change(other.sql, "agent-2")),
          ),
        ),
      )
      const { kept, counted } = yield* totals(one.sql)
      assert.deepStrictEqual(kept, counted)
    }),
  )
})
