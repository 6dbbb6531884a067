import { assert, layer } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import { claimOutbox } from "@tocsin/core/heart/notifications/claimOutbox"
import { type Replica as PgReplica, ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { blacklistIdOf } from "@tocsin/testing/records"
import { openReplica, type Replica } from "@tocsin/testing/Replica"
import { enroll, eventOf, heartbeatOf, keyOf, register, send } from "@tocsin/testing/samples"
import { purge } from "@tocsin/testing/expireAll"
import { Duration, Effect, Layer } from "effect"
import * as PgStorage from "../src/PgStorage.ts"
import { indexSettings } from "../src/Database.ts"
import { type TableStatistics, tableStatistics } from "./tableStatistics.ts"
import { transact } from "@tocsin/testing/transact"

const range = (length: number): ReadonlyArray<number> => Array.from({ length }, (_, n) => n)

/** Runs `use` over a new client of the storage, and closes that. */
const withReplica = <A, E>(use: (replica: Replica) => Effect.Effect<A, E>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const { url } = yield* ScratchPostgres
      const subject = { name: "PostgreSQL", place: Layer.empty, client: PgStorage.layer({ url }) }
      return yield* use(yield* openReplica(subject))
    }),
  )

const observer = Effect.flatMap(ScratchPostgres, ({ replica }) => replica({ maxConnections: 1 }))

const CHECKS = 50

/** A batch of one result of every check. */
const batchOf = (round: number, status: CheckStatus, changes: { readonly incident_key?: string } = {}) =>
  range(CHECKS).map((n) =>
    eventOf(round * CHECKS + n, { check_id: `check-${n}`, status, output: `output ${round}`, ...changes }),
  )

/** How much a table's statistics grew. */
const grown = (
  before: ReadonlyMap<string, TableStatistics>,
  after: ReadonlyMap<string, TableStatistics>,
  table: string,
  what: Exclude<keyof TableStatistics, "name">,
): number => Number((after.get(table)?.[what] ?? 0n) - (before.get(table)?.[what] ?? 0n))

layer(ScratchPostgres.layer)("the row that a heartbeat or result updates", (it) => {
  it.effect("stays in its page: no index is touched", () =>
    Effect.gen(function* () {
      const rounds = 20
      yield* withReplica(
        Effect.fnUntraced(function* (replica) {
          const agents = range(5).map((n) => `agent-${n}`)
          yield* enroll(replica, ...agents)
          for (const round of range(rounds)) {
            for (const agent of agents) {
              yield* replica.ingest.heartbeat(keyOf(agent), heartbeatOf(agent))
              yield* send(replica, agent, batchOf(round, "critical", { incident_key: "shared" }))
            }
          }
        }),
      )
      const statistics = yield* tableStatistics(yield* observer)
      for (const table of ["agent", "check_state"]) {
        const { n_tup_hot_upd = 0n, n_tup_newpage_upd, n_tup_upd = 0n } = statistics.get(table) ?? {}
        assert.isAtLeast(Number(n_tup_upd), 5 * (rounds - 1))
        const elsewhere = n_tup_newpage_upd ?? n_tup_upd - n_tup_hot_upd
        // Each agent left the index of pending ones once, when it was accepted.
        const accepted = table === "agent" ? 5 : 0
        assert.isAtMost(Number(n_tup_upd - n_tup_hot_upd - elsewhere), accepted, table)
        assert.isAbove(Number(n_tup_hot_upd), Number(elsewhere), table)
      }
    }),
  )
})

/** Pages of the indexes of a table that statements of `replica` read, those of this connection counted at once. */
const indexPages = Effect.fnUntraced(function* ({ sql }: PgReplica, table: string) {
  yield* sql`SELECT pg_stat_force_next_flush()`
  const [row] = yield* sql<{ pages: number }>`
    SELECT (idx_blks_hit + idx_blks_read)::int4 AS pages FROM pg_statio_user_tables WHERE relname = ${table}`
  return row?.pages ?? 0
})

layer(ScratchPostgres.layer)("the cost of listing an incident", (it) => {
  it.effect("does not grow with the incidents, in a database without statistics", () =>
    Effect.gen(function* () {
      yield* withReplica(() => Effect.void)
      const { replica } = yield* ScratchPostgres
      const client = yield* replica({ maxConnections: 1, settings: indexSettings })
      const { sql } = client
      const open = Effect.fnUntraced(function* (from: number, to: number) {
        yield* sql`
          INSERT INTO incident (id, kind, incident_key, state, severity, opener_agent_id, opener_check_id, opened_at,
                                member_changes, members_warning, members_unknown, members_critical)
          SELECT 'i' || n, 'named', 'key' || n, 'open', 'critical', 'a', 'disk', n, 2, 0, 0, 2
          FROM generate_series(${from}::int4, ${to}::int4) AS n`
        yield* sql`
          INSERT INTO incident_member (incident_id, agent_id, check_id, severity, change_seq, joined_at)
          SELECT 'i' || n, agent_id, 'disk', 'critical', 1, n
          FROM generate_series(${from}::int4, ${to}::int4) AS n, (VALUES ('a'), ('b')) AS member (agent_id)`
      })
      const cost = Effect.fnUntraced(function* (from: number) {
        const before = yield* indexPages(client, "listed_member")
        for (const n of range(10).map((place) => from + place)) {
          yield* open(n, n)
          yield* sql`UPDATE incident SET state = 'resolved', member_changes = 4, resolved_at = opened_at WHERE id = ${`i${n}`}`
          yield* sql`DELETE FROM incident_member WHERE incident_id = ${`i${n}`}`
        }
        return (yield* indexPages(client, "listed_member")) - before
      })
      yield* cost(0)
      const few = yield* cost(10)
      yield* open(100, 20_000)
      const many = yield* cost(20_001)
      assert.isAbove(few, 20)
      // The indexes are three pages deep by then instead of one.
      assert.isBelow(many, 5 * few)
    }),
  )

  it.effect("has no row for a check that opened its incident", () =>
    Effect.gen(function* () {
      const { sql } = yield* observer
      yield* withReplica((replica) =>
        Effect.gen(function* () {
          yield* enroll(replica, "opener")
          yield* send(replica, "opener", [eventOf(1)])
          yield* send(replica, "opener", [eventOf(2, { status: "warning" })])
          yield* send(replica, "opener", [eventOf(3, { status: "ok" })])
        }),
      )
      const rows =
        yield* sql`SELECT l.agent_id FROM listed_member AS l JOIN incident AS i USING (id) WHERE i.opener_agent_id = 'opener'`
      assert.deepStrictEqual(rows, [])
    }),
  )
})

layer(ScratchPostgres.layer)("the cost of a change", (it) => {
  it.effect("does not grow with the members of its incident", () =>
    Effect.gen(function* () {
      const { sql } = yield* observer
      const shared = { incident_key: "shared" }
      yield* withReplica((replica) =>
        Effect.andThen(
          enroll(replica, "a"),
          Effect.asVoid(send(replica, "a", [eventOf(1, shared), eventOf(2, { ...shared, check_id: "cpu" })])),
        ),
      )
      const members = 10_000
      yield* sql`
        INSERT INTO incident_member (incident_id, agent_id, check_id, severity, change_seq, joined_at)
        SELECT id, 'many-' || n, 'disk', 'critical', -n, 0 FROM incident, generate_series(1, ${members}::int4) AS n
      `
      yield* sql`UPDATE incident SET members_critical = members_critical + ${members}`
      const before = yield* tableStatistics({ ...(yield* observer), sql })
      yield* withReplica((replica) =>
        send(replica, "a", [
          eventOf(3, { ...shared, status: "warning", exit_code: 1 }),
          eventOf(4, { check_id: "cpu", status: "ok", exit_code: 0 }),
          eventOf(5, { status: "ok", exit_code: 0 }),
        ]),
      )
      const after = yield* tableStatistics({ ...(yield* observer), sql })
      assert.isAtMost(grown(before, after, "incident_member", "idx_tup_fetch"), 50)
    }),
  )
})

layer(ScratchPostgres.layer)("the cost of a registration", (it) => {
  it.effect("does not grow with the agents that are pending", () =>
    Effect.gen(function* () {
      const { sql } = yield* observer
      yield* withReplica((replica) => register(replica, "first"))
      yield* sql`
        INSERT INTO agent (agent_id, registration_id, admission_state, hostname, features, observed_at, last_seen_at,
                           registered_at, key_fingerprint, checks_ok, checks_warning, checks_critical, checks_unknown)
        SELECT 'pending-' || n, md5('pending ' || n)::uuid, 'pending', 'host', '{}', n, n, n, 'fingerprint', 0, 0, 0, 0
        FROM generate_series(1, 5000) AS n
      `
      const before = yield* tableStatistics({ ...(yield* observer), sql })
      yield* withReplica((replica) => register(replica, "second"))
      const after = yield* tableStatistics({ ...(yield* observer), sql })
      assert.isAtMost(grown(before, after, "agent", "idx_tup_fetch"), 10)
      assert.strictEqual(grown(before, after, "agent", "seq_scan"), 0)
    }),
  )
})

layer(ScratchPostgres.layer)("the cost of deleting an agent", (it) => {
  it.effect("does not grow with its history, which is purged in pieces", () =>
    Effect.gen(function* () {
      const { sql } = yield* observer
      const agent_id = AgentId.make("old")
      yield* withReplica((replica) =>
        Effect.andThen(enroll(replica, "old"), Effect.asVoid(send(replica, "old", [eventOf(1)]))),
      )
      const rows = 50_000
      yield* sql`
        INSERT INTO check_event (agent_id, registration_id, event_id, check_id, observed_at, received_at, status, exit_code,
                                 duration_ms, output_truncated, notifications_enabled)
        SELECT agent_id, registration_id, md5('event ' || n)::uuid, 'check-' || n % 100, n, n, 'ok', 0, 0, false, true
        FROM agent, generate_series(1, ${rows}::int4) AS n WHERE agent_id = ${agent_id}
      `
      const before = yield* tableStatistics({ ...(yield* observer), sql })
      yield* withReplica((replica) => Effect.asVoid(replica.admission.remove(agent_id)))
      const removed = yield* tableStatistics({ ...(yield* observer), sql })
      assert.strictEqual(grown(before, removed, "check_event", "n_tup_del"), 0)
      assert.strictEqual(grown(before, removed, "check_event", "seq_scan"), 0)
      // Opening the storage reads the newest row, to see that the sequence is not behind it.
      assert.isAtMost(grown(before, removed, "check_event", "idx_tup_fetch"), 1)
      const piece = 1_000
      const purged = yield* withReplica(({ storage }) => purge(storage, piece))
      const after = yield* tableStatistics({ ...(yield* observer), sql })
      assert.strictEqual(purged, piece)
      // Each row is met once to find it, and once to delete it.
      assert.isAtMost(grown(removed, after, "check_event", "idx_tup_fetch"), 3 * piece)
    }),
  )
})

layer(ScratchPostgres.layer)("transactions", (it) => {
  it.effect("never read a whole table, although they are planned while it is empty", () =>
    Effect.gen(function* () {
      const { sql } = yield* observer
      yield* withReplica(() => Effect.void)
      const before = yield* tableStatistics({ ...(yield* observer), sql })
      yield* withReplica(
        Effect.fnUntraced(function* (replica) {
          // Often enough for PostgreSQL to make its plans for good.
          for (const round of range(8)) {
            const agents = range(3).map((n) => `agent-${round}-${n}`)
            yield* register(replica, ...agents)
            for (const agent of agents) {
              yield* replica.admission.accept(AgentId.make(agent))
              yield* replica.ingest.heartbeat(keyOf(agent), heartbeatOf(agent))
              yield* send(replica, agent, batchOf(0, "critical", { incident_key: `shared ${round}` }))
              yield* send(replica, agent, batchOf(1, "warning"))
              yield* send(replica, agent, batchOf(2, "ok"))
            }
            const claim = { receivers: ["debug" as const], limit: 10, lease: Duration.seconds(60) }
            yield* transact(replica.storage, claimOutbox(claim))
            yield* replica.admission.block(AgentId.make(agents[0] ?? ""))
            yield* replica.admission.remove(AgentId.make(agents[1] ?? ""))
            yield* replica.admission.unblock(blacklistIdOf(agents[0] ?? ""))
            yield* purge(replica.storage, 10)
          }
        }),
      )
      const after = yield* tableStatistics({ ...(yield* observer), sql })
      const scans = Array.from(after.keys()).map((table) => [table, grown(before, after, table, "seq_scan")])
      // Running totals have a row for each writer, and are added up.
      const read = scans.filter(([table]) => table !== "schema_migration" && table !== "system_total")
      assert.deepStrictEqual(
        read.filter(([, count]) => count !== 0),
        [],
      )
    }),
  )
})
