import { assert, describe, it } from "@effect/vitest"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Effect } from "effect"
import { assertSame } from "./assertSame.ts"
import { purge } from "./expireAll.ts"
import { race } from "./race.ts"
import { agentRecord } from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { enroll, eventOf, send } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"

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

/** Checks and results that {@link report} leaves, and the row that says that they are left. */
const ROWS = CHECKS + CHECKS * 3 + 1

const lengths = (replica: Replica) =>
  Effect.all([rowsOf(replica, "checks"), rowsOf(replica, "history")]).pipe(
    Effect.map(([checks, history]) => [checks.length, history.length]),
  )

const describeOne = <Place>(subject: StorageUnderTest<Place>): void => {
  it.effect("the rows of a deleted agent are immediately invisible, and removed in pieces", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      yield* enroll(replica, "a", "b")
      yield* report(replica, "a")
      yield* report(replica, "b")
      assert.deepStrictEqual(yield* lengths(replica), [2 * CHECKS, 6 * CHECKS])
      assert.strictEqual(yield* purge(replica.storage, 100), 0)
      yield* replica.admission.remove(a)
      assert.deepStrictEqual(yield* lengths(replica), [CHECKS, 3 * CHECKS])
      assert.deepStrictEqual(yield* rowsOf(replica, "checks", { agent_id: a }), [])
      assert.deepStrictEqual(yield* rowsOf(replica, "history", { agent_id: a }), [])
      assert.deepStrictEqual(
        yield* rowsOf(replica, "history", { agent_id: a, check_id: CheckId.make("check-1") }),
        [],
      )
      for (let left = ROWS; left > 0; left -= 3) {
        assert.strictEqual(yield* purge(replica.storage, 3), Math.min(3, left))
        assert.deepStrictEqual(yield* lengths(replica), [CHECKS, 3 * CHECKS])
      }
      assert.strictEqual(yield* purge(replica.storage, 3), 0)
    }),
  )

  it.effect("keeps an agent that registered again, and counts its events as new", () =>
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
      assert.strictEqual(yield* purge(replica.storage, 5), 5)
      assert.strictEqual(yield* purge(replica.storage, 1_000), 2 * ROWS - 5)
      assert.strictEqual(yield* purge(replica.storage, 1_000), 0)
      assert.deepStrictEqual(yield* lengths(replica), [CHECKS, 3 * CHECKS])
      const again = yield* report(replica, "a")
      assert.deepStrictEqual(
        again.map((reply) => reply.accepted),
        [0, 0, 0],
      )
    }),
  )

  it.effect("an agent removed and registered by one decision is a new agent", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      yield* enroll(replica, "a")
      yield* report(replica, "a")
      const anew = agentRecord("a", { hostname: "anew", registered_at: Instant.fromMicros(7n) })
      yield* transact(replica.storage, function* (unit) {
        yield { agents: [a] }
        const former = unit.agents.get(a)
        if (former !== undefined) unit.removeAgent(former)
        unit.putAgent(anew)
      })
      assertSame(yield* replica.storage.agent(a), anew)
      assert.deepStrictEqual(yield* lengths(replica), [0, 0])
      assert.strictEqual(yield* purge(replica.storage, 1_000), ROWS)
    }),
  )
}

const PIECE = 7

const purgeAll = Effect.fnUntraced(function* ({ storage }: Replica) {
  let removed = 0
  for (;;) {
    const count = yield* purge(storage, PIECE)
    removed += count
    if (count < PIECE) return removed
  }
})

/** Rows of deleted agents are immediately invisible, and removed in pieces (docs/rules.md#deleting-an-agent). */
export const purgeSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("purge", () => {
    describeOne(subject)
    race(subject, { name: "from several clients concurrently removes each row once" }, (replica) =>
      Effect.gen(function* () {
        const agents = Array.from({ length: 6 }, (_, n) => `agent-${n}`)
        yield* enroll(replica(0), ...agents)
        yield* Effect.forEach(agents, (agent) => report(replica(0), agent))
        yield* Effect.forEach(agents, (agent) => replica(0).admission.remove(AgentId.make(agent)))
        const removed = yield* Effect.forEach([0, 1, 2, 3], (n) => purgeAll(replica(n)), {
          concurrency: "unbounded",
        })
        // A side may stop early where another one holds the last rows.
        const rest = yield* purgeAll(replica(0))
        const sum = removed.reduce((total, count) => total + count, rest)
        assert.strictEqual(sum, agents.length * ROWS)
      }),
    )
  })
}
