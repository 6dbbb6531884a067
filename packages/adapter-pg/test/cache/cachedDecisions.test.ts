import { assert, layer } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { HeartbeatRequest } from "@tocsin/contract/v1/Requests"
import {
  cacheCounters,
  CurrentInstruments,
  Instruments,
} from "@tocsin/core/kernel/engine/metrics/Instruments"
import { faultyNetwork } from "@tocsin/test/postgres/faultyNetwork"
import { type Replica as Connection, ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import * as alertSender from "@tocsin/testing/alertSender"
import { newPlace, type Replica } from "@tocsin/testing/Replica"
import { enroll, eventOf, heartbeatOf, keyOf, send, START_MILLIS } from "@tocsin/testing/samples"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { eventually } from "../client/eventually.ts"
import { scriptOf } from "../../src/client/PgPoolOptions.ts"
import type { PgStorageOptions } from "../../src/PgStorage.ts"
import * as PgStorage from "../../src/PgStorage.ts"
import { CACHED_GROUPS } from "../../src/groups/GroupCommit.ts"
import { waitingForLocks } from "../waitingForLocks.ts"
import { transact } from "@tocsin/testing/transact"
import { storageMetrics } from "@tocsin/core/kernel/engine/metrics/storageMetrics"

const TABLES =
  "agent, agent_key, check_state, check_event, incident, incident_member, incident_change, outbox, audit, audit_subject"

/**
 * An empty database, of which replicas are opened that keep rows or not. All of them draw different
 * ids.
 */
const emptied = Effect.gen(function* () {
  const scratch = yield* ScratchPostgres
  const observer = yield* scratch.replica({ maxConnections: 1 })
  let next: PgStorageOptions = { url: scratch.url }
  const instruments = new Instruments()
  const client = Layer.unwrap(Effect.sync(() => PgStorage.layer(next))).pipe(
    Layer.provide(Layer.succeed(CurrentInstruments, instruments)),
  )
  const openNext = yield* newPlace({ name: "PostgreSQL", place: Layer.empty, client })
  const open = (options: Partial<PgStorageOptions> = {}) =>
    Effect.suspend(() => {
      next = { url: scratch.url, ...options }
      return openNext
    })
  const cached = yield* open()
  yield* observer.sql.unsafe(`TRUNCATE ${TABLES} CASCADE`)
  const failedGroups = () => instruments.of(storageMetrics).groupFailures.of("postgres", "cached").value
  const lookups = cacheCounters(instruments, "postgres")
  return { scratch, observer, open, failedGroups, lookups, cached, uncached: yield* open({ cacheBytes: 0 }) }
})

/** The same, with accepted agents of two checks each. */
const setUp = (...agents: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const parts = yield* emptied
    const { cached } = parts
    yield* enroll(cached, ...agents)
    for (const agent of agents) {
      yield* send(cached, agent, [eventOf(1), eventOf(2, { check_id: "cpu" })])
      yield* beat(cached, agent, 1)
    }
    return parts
  })

const observedAt = (n: number) => Instant.fromMillis(START_MILLIS + n * 1_000)

/** The n-th heartbeat of an agent. */
const beat = (replica: Replica, agent: string, n: number) =>
  replica.ingest.heartbeat(keyOf(agent), heartbeatOf(agent, { observed_at: observedAt(n) }))

const agentRow = ({ sql }: Connection, agent: string) =>
  Effect.map(
    sql<{ observed_at: bigint; checks_warning: number }>`
      SELECT observed_at, checks_warning FROM agent WHERE agent_id = ${agent}
    `,
    ([row]) => row,
  )

/** When the verifying statement last began, as text. */
const lastVerified = ({ sql }: Connection) =>
  Effect.map(
    sql<{ at: string }>`
      SELECT max(query_start)::text AS at FROM pg_stat_activity
      WHERE datname = current_database() AND query LIKE 'WITH given AS MATERIALIZED%'
    `,
    ([row]) => row?.at,
  )

layer(ScratchPostgres.layerOfOwnServer)("a decision on cached rows", (it) => {
  it.effect("is written by one statement: heartbeats, and results that change nothing", () =>
    Effect.gen(function* () {
      const { cached, observer, uncached } = yield* setUp("quick")
      const first = yield* lastVerified(observer)
      assert.isString(first)
      yield* send(uncached, "quick", [eventOf(3)])
      yield* beat(uncached, "quick", 2)
      assert.strictEqual(yield* lastVerified(observer), first)
      yield* beat(cached, "quick", 3)
      yield* beat(cached, "quick", 4)
      const second = yield* lastVerified(observer)
      assert.notStrictEqual(second, first)
      yield* send(cached, "quick", [eventOf(5), eventOf(6, { check_id: "cpu" })])
      assert.deepStrictEqual(yield* send(cached, "quick", [eventOf(7), eventOf(8, { check_id: "cpu" })]), {
        accepted: 0,
        deduplicated: 2,
      })
      assert.notStrictEqual(yield* lastVerified(observer), second)
      assert.strictEqual((yield* agentRow(observer, "quick"))?.observed_at, observedAt(4))
    }),
  )

  it.effect("is decided again if another program changed the agent", () =>
    Effect.gen(function* () {
      const agents = Array.from({ length: 20 }, (_, n) => `written-${n}`)
      const { cached, observer } = yield* setUp(...agents)
      yield* observer.sql`UPDATE agent SET checks_warning = 7 WHERE agent_id = 'written-5'`
      const replies = yield* Effect.forEach(agents, (agent) => beat(cached, agent, 2), {
        concurrency: "unbounded",
      })
      assert.deepStrictEqual(
        replies,
        agents.map(() => ({ accepted: true })),
      )
      for (const agent of agents) {
        assert.deepStrictEqual(yield* agentRow(observer, agent), {
          observed_at: observedAt(2),
          checks_warning: agent === "written-5" ? 7 : 0,
        })
      }
    }),
  )

  it.effect("is decided again if another program changed its key, as without the cache", () =>
    Effect.gen(function* () {
      for (const change of [
        "UPDATE agent SET accepted_key_hash = NULL WHERE agent_id = 'key'; DELETE FROM agent_key",
        "UPDATE agent_key SET state = 'superseded' WHERE agent_id = 'key'",
        "DELETE FROM agent_key WHERE agent_id = 'key'",
        "DELETE FROM agent WHERE agent_id = 'key'",
      ]) {
        const { cached, observer, uncached } = yield* setUp("key")
        yield* observer.sql.unsafe(scriptOf(change))
        const outcomes = [
          yield* Effect.exit(send(cached, "key", [eventOf(3)])),
          yield* Effect.exit(send(uncached, "key", [eventOf(3)])),
        ]
        assert.deepStrictEqual(outcomes[0]?._tag, outcomes[1]?._tag, change)
      }
    }),
  )

  it.effect("is decided again if another program changed a check, and is never half written", () =>
    Effect.gen(function* () {
      const { cached, observer } = yield* setUp("check")
      const both = (n: number) => [eventOf(n), eventOf(n + 1, { check_id: "cpu" })]
      yield* observer.sql`UPDATE check_state SET exit_code = 1 WHERE agent_id = 'check' AND check_id = 'cpu'`
      assert.deepStrictEqual(yield* send(cached, "check", both(3)), { accepted: 1, deduplicated: 1 })
      yield* observer.sql`DELETE FROM check_state WHERE agent_id = 'check' AND check_id = 'disk'`
      assert.deepStrictEqual(yield* send(cached, "check", both(5)), { accepted: 1, deduplicated: 1 })
      assert.deepStrictEqual(yield* send(cached, "check", both(7)), { accepted: 0, deduplicated: 2 })
      const rows = yield* observer.sql<{ last_observed_at: bigint }>`
        SELECT last_observed_at FROM check_state WHERE agent_id = 'check' ORDER BY check_id
      `
      assert.deepStrictEqual(
        rows.map((row) => row.last_observed_at),
        [observedAt(8), observedAt(7)],
      )
    }),
  )

  it.effect("is decided again if another program changes a check while it is written", () =>
    Effect.gen(function* () {
      const { cached, observer, scratch } = yield* setUp("meanwhile", "neighbour")
      const both = (n: number) => [eventOf(n), eventOf(n + 1, { check_id: "cpu" })]
      for (const agent of ["meanwhile", "neighbour"]) yield* send(cached, agent, both(3))
      const holder = yield* scratch.replica({ maxConnections: 1 })
      const before = yield* lastVerified(observer)
      const fibers = yield* holder.sql.withTransaction(
        Effect.gen(function* () {
          yield* holder.sql`UPDATE check_state SET exit_code = 1 WHERE agent_id = 'meanwhile' AND check_id = 'cpu'`
          const all = ["meanwhile", "neighbour"].map((agent) =>
            Effect.forkChild(send(cached, agent, both(5)), { startImmediately: true }),
          )
          const started = yield* Effect.all(all)
          yield* eventually(Effect.map(waitingForLocks(observer), (count) => count === 1))
          return started
        }),
      )
      const replies = yield* Effect.forEach(fibers, (fiber) => Fiber.join(fiber))
      assert.deepStrictEqual(replies, [
        { accepted: 1, deduplicated: 1 },
        { accepted: 0, deduplicated: 2 },
      ])
      assert.notStrictEqual(yield* lastVerified(observer), before)
      const rows = yield* observer.sql<{ exit_code: bigint; last_observed_at: bigint }>`
        SELECT exit_code, last_observed_at FROM check_state ORDER BY agent_id, check_id
      `
      assert.deepStrictEqual(
        rows.map((row) => row.last_observed_at),
        [6, 5, 6, 5].map(observedAt),
      )
      assert.isTrue(rows.every((row) => row.exit_code === 2n))
    }),
  )

  it.effect("is not taken for a heartbeat that changes another column of its agent", () =>
    Effect.gen(function* () {
      const { cached, observer } = yield* setUp("said")
      const said = { observed_at: observedAt(2), hostname: "said.example.org" }
      const changes: ReadonlyArray<Partial<HeartbeatRequest>> = [
        { features: { push: true, metrics: true } },
        { features: { push: false, metrics: true } },
        { hostname: "another.example.org" },
        { labels: { os: "linux" } },
        { labels: { os: "bsd" } },
        { labels: {} },
        {},
      ]
      for (const change of changes) {
        yield* cached.ingest.heartbeat(keyOf("said"), heartbeatOf("said", { ...said, ...change }))
        const [row] = yield* observer.sql<{ hostname: string; features: object; labels: object | null }>`
          SELECT hostname, features, labels FROM agent WHERE agent_id = 'said'
        `
        const unless = { hostname: said.hostname, features: { push: true, metrics: false }, labels: null }
        assert.deepStrictEqual(row, { ...unless, ...change })
      }
    }),
  )

  it.effect("does not see a commit that failed", () =>
    Effect.gen(function* () {
      const { cached, lookups, observer } = yield* setUp("unkept")
      yield* send(cached, "unkept", [eventOf(3)])
      yield* observer.sql.unsafe(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$",
      )
      yield* observer.sql.unsafe(`
        CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON check_event DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW EXECUTE FUNCTION refuse()
      `)
      const before = { hit: lookups.hit.value, stale: lookups.stale.value }
      yield* Effect.flip(send(cached, "unkept", [eventOf(4, { exit_code: 9 })]))
      yield* observer.sql.unsafe("DROP FUNCTION refuse CASCADE")
      // The cached rows of before equal the stored ones.
      assert.deepStrictEqual(yield* send(cached, "unkept", [eventOf(5)]), { accepted: 0, deduplicated: 1 })
      assert.deepStrictEqual(yield* send(cached, "unkept", [eventOf(6, { exit_code: 9 })]), {
        accepted: 1,
        deduplicated: 0,
      })
      assert.deepStrictEqual(
        { hit: lookups.hit.value, stale: lookups.stale.value },
        { ...before, hit: before.hit + 1 },
      )
    }),
  )

  it.effect("is kept while its integration notes what was heard", () =>
    Effect.gen(function* () {
      const { cached, lookups } = yield* setUp("beside")
      const site = yield* alertSender.open(cached)
      const firing = alertSender.sends(site, "a:9090", ["Load", "Disk"], 240)
      for (let round = 0; round < 3; round++) yield* firing
      const before = { hit: lookups.hit.value, stale: lookups.stale.value }
      for (let round = 0; round < 6; round++) {
        // So that each is noted.
        yield* TestClock.adjust("15 seconds")
        yield* firing
      }
      assert.deepStrictEqual(
        { hit: lookups.hit.value, stale: lookups.stale.value },
        { ...before, hit: before.hit + 6 },
      )
    }),
  )

  it.effect("stores every text unchanged", () =>
    Effect.gen(function* () {
      const { cached, observer } = yield* setUp("texts")
      const before = yield* lastVerified(observer)
      const outputs = ['"', "\\", '\\"', "{}", "NULL", "", ",", "größer ✓", "a\tb", "'"]
      for (const [n, output] of outputs.entries()) {
        yield* send(cached, "texts", [eventOf(3 + n, { output })])
        const [row] = yield* observer.sql<{ summary: string | null; seen: string }>`
          SELECT summary, seen_event_ids::text AS seen FROM check_state WHERE agent_id = 'texts' AND check_id = 'disk'
        `
        assert.strictEqual(row?.summary ?? "", output)
        assert.include(row?.seen, eventOf(3 + n).event_id)
      }
      assert.notStrictEqual(yield* lastVerified(observer), before)
    }),
  )

  it.effect("is right when another instance takes turns with it", () =>
    Effect.gen(function* () {
      const { cached, observer, open } = yield* setUp("turns")
      const instances = [cached, yield* open()] as const
      for (let n = 2; n < 80; n++) {
        const instance = instances[n % 2 === 0 ? 0 : 1]
        const event = eventOf(n, n % 10 === 0 ? { status: "ok", exit_code: n } : {})
        const { accepted } = yield* send(instance, "turns", [event])
        assert.strictEqual(accepted, n % 10 < 2 && n > 2 ? 1 : 0, String(n))
        assert.isTrue((yield* beat(instance, "turns", n)).accepted)
        assert.strictEqual((yield* agentRow(observer, "turns"))?.observed_at, observedAt(n))
      }
    }),
  )

  it.effect("does not let a group fail for a check that another instance has refreshed", () =>
    Effect.gen(function* () {
      const { cached, failedGroups, uncached } = yield* setUp("shared", "neighbour")
      for (let n = 3; n < 60; n += 5) {
        yield* send(uncached, "shared", [eventOf(n)])
        // Decided on locked rows, of which this check is the only one.
        yield* send(cached, "shared", [eventOf(n + 1, { check_id: "cpu", exit_code: n })])
        const results = [send(cached, "shared", [eventOf(n + 2)]), beat(cached, "neighbour", n)]
        yield* Effect.all(results, { concurrency: "unbounded" })
        assert.strictEqual(failedGroups(), 0, String(n))
      }
    }),
  )

  it.effect("counts the groups that fail because another program wrote", () =>
    Effect.gen(function* () {
      const { cached, failedGroups, observer } = yield* setUp("past")
      yield* send(cached, "past", [eventOf(3)])
      yield* observer.sql`UPDATE check_state SET exit_code = 1 WHERE agent_id = 'past'`
      assert.deepStrictEqual(yield* send(cached, "past", [eventOf(4)]), { accepted: 1, deduplicated: 0 })
      assert.strictEqual(failedGroups(), 1)
    }),
  )

  it.effect("relies on no version of a former run of the server", () =>
    Effect.gen(function* () {
      const { cached, observer } = yield* setUp("run")
      // One step of a recovery.
      yield* observer.sql`SELECT pg_stat_reset_shared('bgwriter')`
      for (const n of [2, 3, 4]) {
        assert.deepStrictEqual(yield* beat(cached, "run", n), { accepted: true })
        assert.strictEqual((yield* agentRow(observer, "run"))?.observed_at, observedAt(n))
      }
    }),
  )

  it.effect("is made again if the answer of its statement is lost", () =>
    Effect.gen(function* () {
      const { observer, open, scratch } = yield* setUp("lost")
      const network = yield* faultyNetwork(scratch.url)
      const replica = yield* open({ url: network.url })
      yield* beat(replica, "lost", 2)
      yield* network.holdReplies
      const fiber = yield* Effect.forkChild(beat(replica, "lost", 3))
      yield* eventually(Effect.map(agentRow(observer, "lost"), (row) => row?.observed_at === observedAt(3)))
      yield* network.cut
      yield* network.passReplies
      assert.deepStrictEqual(yield* Fiber.join(fiber), { accepted: true })
      assert.strictEqual((yield* agentRow(observer, "lost"))?.observed_at, observedAt(3))
    }),
  )
})

layer(ScratchPostgres.layer)("a command that waits during a commit", (it) => {
  it.effect("is written beside it if enough commands wait, unless its agent is being written", () =>
    Effect.gen(function* () {
      const others = Array.from({ length: CACHED_GROUPS.besideFrom }, (_, n) => `other-${n}`)
      const { cached, observer, scratch } = yield* setUp("held", ...others)
      const results = (n: number) => send(cached, "held", [eventOf(n), eventOf(n + 1, { check_id: "cpu" })])
      yield* results(3)
      const holder = yield* scratch.replica({ maxConnections: 1 })
      const before = yield* lastVerified(observer)
      const [first, second] = yield* holder.sql.withTransaction(
        Effect.gen(function* () {
          yield* holder.sql`SELECT 1 FROM check_state WHERE agent_id = 'held' FOR UPDATE`
          const held = yield* Effect.forkChild(results(5))
          yield* eventually(Effect.map(waitingForLocks(observer), (count) => count === 1))
          const early = yield* Effect.forkChild(beat(cached, "held", 7), { startImmediately: true })
          yield* Effect.forEach(others, (agent) => beat(cached, agent, 2), { concurrency: "unbounded" })
          assert.isUndefined(held.pollUnsafe())
          assert.isUndefined(early.pollUnsafe())
          return [held, early] as const
        }),
      )
      assert.deepStrictEqual(yield* Fiber.join(first), { accepted: 0, deduplicated: 2 })
      assert.deepStrictEqual(yield* Fiber.join(second), { accepted: true })
      assert.strictEqual((yield* agentRow(observer, "held"))?.observed_at, observedAt(7))
      assert.notStrictEqual(yield* lastVerified(observer), before)
    }),
  )

  it.effect("is withdrawn when its caller is interrupted", () =>
    Effect.gen(function* () {
      const { cached, observer, scratch } = yield* setUp("first", "second")
      const holder = yield* scratch.replica({ maxConnections: 1 })
      const first = yield* holder.sql.withTransaction(
        Effect.gen(function* () {
          yield* holder.sql`LOCK TABLE agent`
          const fiber = yield* Effect.forkChild(beat(cached, "first", 2))
          yield* eventually(Effect.map(waitingForLocks(observer), (count) => count === 1))
          const second = yield* Effect.forkChild(beat(cached, "second", 2), { startImmediately: true })
          yield* Fiber.interrupt(second)
          return fiber
        }),
      )
      yield* Fiber.join(first)
      assert.strictEqual((yield* agentRow(observer, "second"))?.observed_at, observedAt(1))
      assert.isTrue((yield* beat(cached, "second", 3)).accepted)
    }),
  )

  it.effect("does not fail with a neighbour", () =>
    Effect.gen(function* () {
      const agents = Array.from({ length: 12 }, (_, n) => `neighbour-${n}`)
      const { cached, observer } = yield* setUp(...agents)
      const spoil = (agent: string) =>
        transact(cached.storage, function* (unit) {
          const agent_id = AgentId.make(agent)
          yield { agents: [agent_id] }
          const row = unit.agents.get(agent_id)
          // PostgreSQL keeps no such text.
          if (row !== undefined) unit.putAgent({ ...row, hostname: "\0" })
        })
      const exits = yield* Effect.forEach(
        agents,
        (agent, n) => {
          const change = send(cached, agent, [eventOf(3, { exit_code: 9 })])
          return Effect.exit(n === 5 ? spoil(agent) : change)
        },
        { concurrency: "unbounded" },
      )
      assert.deepStrictEqual(
        exits.map((exit) => exit._tag),
        agents.map((_, n) => (n === 5 ? "Failure" : "Success")),
      )
      const rows = yield* observer.sql`
        SELECT 1 FROM check_state WHERE agent_id LIKE 'neighbour-%' AND exit_code = 9
      `
      assert.strictEqual(rows.length, agents.length - 1)
    }),
  )
})
