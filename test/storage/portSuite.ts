import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId } from "@tocsin/core/contract/Identifiers"
import * as Instant from "@tocsin/core/contract/Instant"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { assertSame } from "./assertSame.ts"
import { agentRecord, incidentRecord, keyHashOf, write } from "./records.ts"
import { newPlace, openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { enroll, eventOf, heartbeatOf, keyOf, register, send, start, START_MILLIS } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const a = AgentId.make("a")
const CHECKS = 4

/** Gives an agent four checks, each with three rows of history. */
const report = (replica: Replica, agent: string) =>
  Effect.forEach(["critical", "ok", "warning"] as const, (status, round) =>
    send(
      replica,
      agent,
      Array.from({ length: CHECKS }, (_, n) =>
        eventOf(round * CHECKS + n, { check_id: `check-${n}`, status, exit_code: round }),
      ),
    ),
  )

/** Checks and rows that {@link report} leaves. */
const ROWS = CHECKS + CHECKS * 3

const lengths = (replica: Replica) =>
  Effect.all([rowsOf(replica, "checks"), rowsOf(replica, "history")]).pipe(
    Effect.map(([checks, history]) => [checks.length, history.length]),
  )

const describeReads = <Place, E>(subject: StorageUnderTest<Place, E>): void => {
  it.effect("agent: the one, or none", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      yield* register(replica, "a")
      assert.strictEqual((yield* replica.storage.agent(a))?.hostname, "a.example.org")
      assert.isUndefined(yield* replica.storage.agent(AgentId.make("A")))
    }),
  )

  it.effect("counts: the instant itself is offline, pending agents are nowhere, checks count by status", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      const nothing = { agents_online: 0, agents_offline: 0, open_incidents: 0 }
      const noChecks = { checks_ok: 0, checks_warning: 0, checks_critical: 0, checks_unknown: 0 }
      assert.deepStrictEqual(yield* replica.storage.counts(start), { ...nothing, ...noChecks })
      const seen = (name: string, micros: bigint, counts = {}) =>
        agentRecord(name, { last_seen_at: Instant.fromMicros(start + micros), ...counts })
      const pending = {
        admission_state: "pending",
        accepted_key_hash: undefined,
        pending_key_hash: keyHashOf("d"),
      } as const
      yield* write(replica, [], (workspace) => {
        workspace.agents.put(seen("a", 1n, { checks_ok: 1, checks_warning: 20, checks_unknown: 4_000 }))
        workspace.agents.put(seen("b", 0n, { checks_ok: 5, checks_critical: 300 }))
        workspace.agents.put(seen("c", -1n))
        workspace.agents.put(seen("d", 1n, pending))
        workspace.incidents.put(incidentRecord("x"))
        workspace.incidents.put(incidentRecord("y"))
        workspace.incidents.put(incidentRecord("z", { state: "resolved", resolved_at: start }))
      })
      assert.deepStrictEqual(yield* replica.storage.counts(start), {
        agents_online: 1,
        agents_offline: 2,
        checks_ok: 6,
        checks_warning: 20,
        checks_critical: 300,
        checks_unknown: 4_000,
        open_incidents: 2,
      })
    }),
  )

  it.effect("agentsWithPendingKey: bytewise from the one after, as many as asked for", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      yield* enroll(replica, "accepted", "rotating")
      yield* replica.ingest.heartbeat(keyOf("rotating second"), heartbeatOf("rotating"))
      const ids = ["a", "B", "a.b", "a-b", "Ab", "_", ":", "9", "a:b", "aB", "10"]
      yield* register(replica, ...ids)
      const sorted = [...ids, "rotating"].toSorted()
      const { agentsWithPendingKey } = replica.storage
      const found = (after: string | undefined, limit: number) =>
        agentsWithPendingKey(after === undefined ? undefined : AgentId.make(after), limit)
      assert.deepStrictEqual<unknown>(yield* found(undefined, 100), sorted)
      assert.deepStrictEqual<unknown>(yield* found(undefined, 3), sorted.slice(0, 3))
      assert.deepStrictEqual<unknown>(yield* found("a", 4), sorted.slice(sorted.indexOf("a") + 1).slice(0, 4))
      assert.deepStrictEqual<unknown>(yield* found("between", 100), ["rotating"])
      assert.deepStrictEqual<unknown>(yield* found("rotating", 100), [])
      yield* replica.admission.acceptAll({ includeRotation: false })
      assert.deepStrictEqual<unknown>(yield* found(undefined, 100), ["rotating"])
    }),
  )

  it.effect("probe: answers", () =>
    Effect.gen(function* () {
      const { storage } = yield* openReplica(subject)
      assert.isUndefined(yield* storage.probe)
    }),
  )

  it.effect("transact: gives the decision the clock's time and its caller the decision's reply", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(START_MILLIS)
      yield* TestClock.adjust("1 micro")
      const { storage } = yield* openReplica(subject)
      // oxlint-disable-next-line eslint/require-yield -- a decision that has to see nothing
      const reply = yield* storage.transact(function* (_workspace, now) {
        return { now, odd: [undefined, "\0", Number.NaN] }
      })
      assert.deepStrictEqual<unknown>(reply, { now: start + 1n, odd: [undefined, "\0", Number.NaN] })
    }),
  )
}

const describeEstablish = <Place, E>(subject: StorageUnderTest<Place, E>): void => {
  it.effect("establish: keeps the first value, for good", () =>
    Effect.gen(function* () {
      const { storage } = yield* openReplica(subject)
      assert.strictEqual(yield* storage.establish("pepper_check", "first"), "first")
      assert.strictEqual(yield* storage.establish("pepper_check", "second"), "first")
    }),
  )

  it.live("establish: of values that race, all learn the one that is kept", () =>
    Effect.gen(function* () {
      const open = yield* newPlace(subject)
      const first = yield* open
      const second = subject.onlyOneClient === undefined ? yield* open : first
      const values = Array.from({ length: 20 }, (_, n) => `value ${n}`)
      const kept = yield* Effect.forEach(
        values,
        (value, n) => (n % 2 === 0 ? first : second).storage.establish("pepper_check", value),
        { concurrency: "unbounded" },
      )
      assert.deepStrictEqual(Array.from(new Set(kept)), [kept[0]])
      assert.include(values, kept[0])
      assert.strictEqual(yield* first.storage.establish("pepper_check", "late"), kept[0])
    }),
  )
}

const describePurge = <Place, E>(subject: StorageUnderTest<Place, E>): void => {
  it.effect("purge: what a deleted agent left is gone at once for readers, and removed in pieces", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      yield* enroll(replica, "a", "b")
      yield* report(replica, "a")
      yield* report(replica, "b")
      assert.deepStrictEqual(yield* lengths(replica), [2 * CHECKS, 6 * CHECKS])
      assert.strictEqual(yield* replica.storage.purge(100), 0)
      yield* replica.admission.remove(a)
      assert.deepStrictEqual(yield* lengths(replica), [CHECKS, 3 * CHECKS])
      assert.deepStrictEqual(yield* rowsOf(replica, "checks", { agent_id: a }), [])
      assert.deepStrictEqual(yield* rowsOf(replica, "history", { agent_id: a }), [])
      assert.deepStrictEqual(
        yield* rowsOf(replica, "history", { agent_id: a, check_id: CheckId.make("check-1") }),
        [],
      )
      for (let left = ROWS; left > 0; left -= 3) {
        assert.strictEqual(yield* replica.storage.purge(3), Math.min(3, left))
        assert.deepStrictEqual(yield* lengths(replica), [CHECKS, 3 * CHECKS])
      }
      assert.strictEqual(yield* replica.storage.purge(3), 0)
    }),
  )

  it.effect("purge: leaves an agent alone that registered anew, and what it reports counts anew", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      for (let registration = 0; registration < 3; registration++) {
        yield* enroll(replica, "a")
        const replies = yield* report(replica, "a")
        // The very event ids, instants and statuses of the former registration.
        assert.deepStrictEqual(
          replies.map((reply) => reply.accepted),
          [CHECKS, CHECKS, CHECKS],
        )
        assert.deepStrictEqual(yield* lengths(replica), [CHECKS, 3 * CHECKS])
        if (registration < 2) yield* replica.admission.remove(a)
      }
      assert.strictEqual(yield* replica.storage.purge(5), 5)
      assert.strictEqual(yield* replica.storage.purge(1_000), 2 * ROWS - 5)
      assert.strictEqual(yield* replica.storage.purge(1_000), 0)
      assert.deepStrictEqual(yield* lengths(replica), [CHECKS, 3 * CHECKS])
      const again = yield* report(replica, "a")
      assert.deepStrictEqual(
        again.map((reply) => reply.accepted),
        [0, 0, 0],
      )
    }),
  )

  it.effect("purge: an agent removed and registered anew by one decision is a new one", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      yield* enroll(replica, "a")
      yield* report(replica, "a")
      const anew = agentRecord("a", { hostname: "anew", registered_at: Instant.fromMicros(7n) })
      yield* replica.storage.transact(function* (workspace) {
        yield { agents: [a] }
        const former = workspace.agents.get(a)
        if (former !== undefined) workspace.removeAgent(former)
        workspace.putAgent(anew)
      })
      assertSame(yield* replica.storage.agent(a), anew)
      assert.deepStrictEqual(yield* lengths(replica), [0, 0])
      assert.strictEqual(yield* replica.storage.purge(1_000), ROWS)
    }),
  )

  it.live("purge: from several sides at once removes each row once", () =>
    Effect.gen(function* () {
      const open = yield* newPlace(subject)
      const first = yield* open
      const second = subject.onlyOneClient === undefined ? yield* open : first
      const agents = Array.from({ length: 6 }, (_, n) => `agent-${n}`)
      yield* enroll(first, ...agents)
      yield* Effect.forEach(agents, (agent) => report(first, agent))
      yield* Effect.forEach(agents, (agent) => first.admission.remove(AgentId.make(agent)))
      const purgeAll = Effect.fnUntraced(function* ({ storage }: Replica) {
        let removed = 0
        for (;;) {
          const count = yield* storage.purge(7)
          removed += count
          if (count < 7) return removed
        }
      })
      const sides = [first, second, first, second].map(purgeAll)
      const removed = yield* Effect.all(sides, { concurrency: "unbounded" })
      // A side may stop early where another one holds the last rows.
      const rest = yield* purgeAll(first)
      const sum = removed.reduce((total, count) => total + count, rest)
      assert.strictEqual(sum, agents.length * ROWS)
    }),
  )
}

/** Each method of the port by its own words. */
export const portSuite = <Place, E>(subject: StorageUnderTest<Place, E>): void => {
  describe("port", () => {
    describeReads(subject)
    describeEstablish(subject)
    describePurge(subject)
    if (subject.onlyOneClient === undefined) {
      it.effect("what was answered outlives the client", () =>
        Effect.gen(function* () {
          const open = yield* newPlace(subject)
          yield* Effect.scoped(
            Effect.gen(function* () {
              const replica = yield* open
              yield* enroll(replica, "a")
              yield* report(replica, "a")
              yield* replica.storage.establish("pepper_check", "kept")
            }),
          )
          const replica = yield* open
          assert.deepStrictEqual(yield* lengths(replica), [CHECKS, 3 * CHECKS])
          assert.strictEqual(yield* replica.storage.establish("pepper_check", "new"), "kept")
          assert.deepStrictEqual(yield* report(replica, "a"), [
            { accepted: 0, deduplicated: CHECKS },
            { accepted: 0, deduplicated: CHECKS },
            { accepted: 0, deduplicated: CHECKS },
          ])
        }),
      )
    } else it.skip(`what was answered outlives the client (${subject.onlyOneClient})`, () => undefined)
  })
}
