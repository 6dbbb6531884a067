import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Effect } from "effect"
import { expireAll } from "./expireAll.ts"
import { observe } from "./observe.ts"
import { race } from "./race.ts"
import { agentRecord } from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { eventId, eventOf, start } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { transact } from "./transact.ts"
import { range } from "./numbers.ts"

const at = (n: number) => Instant.fromMicros(start + BigInt(n))

/** Expires history in pieces of a given size. */
const expire = ({ storage }: Replica, before: Instant.Instant, limit = 100) =>
  expireAll(storage, { rule: "history", before, limit })

/** An agent whose check `disk` has rows received at the instants 0 to 5, and `cpu` one at 0. */
const putHistory = (replica: Replica, name: string) => {
  const agent = agentRecord(name)
  const { agent_id, registration_id } = agent
  return transact(replica.storage, function* (unit) {
    yield { agents: [agent_id] }
    unit.putAgent(agent)
    for (const n of range(6)) unit.store({ ...eventOf(n), agent_id, registration_id, received_at: at(n) })
    const cpu = eventOf(9, { check_id: "cpu" })
    unit.store({ ...cpu, agent_id, registration_id, received_at: at(0) })
  })
}

const eventsOf = (replica: Replica, ...numbers: ReadonlyArray<number>) =>
  Effect.map(rowsOf(replica, "history"), (rows) => {
    const names = new Map(numbers.map((n) => [eventId(n), n]))
    return rows.map((row) => names.get(row.event_id))
  })

/** History goes, but for the newest result of each check. */
export const historyRetentionSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("retention of history", () => {
    it.effect("expires rows received before the bound in pieces, except the newest row of each check", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        yield* putHistory(replica, "a")
        const all = range(10)
        assert.strictEqual(yield* expire(replica, at(0)), 0)
        const { removed } = yield* replica.storage.expire({
          rule: "history",
          before: at(3),
          after: undefined,
          limit: 2,
        })
        assert.include([1, 2], removed)
        assert.strictEqual((yield* eventsOf(replica, ...all)).length, 7 - removed)
        assert.strictEqual(yield* expire(replica, at(3), 2), 3 - removed)
        assert.deepStrictEqual(yield* eventsOf(replica, ...all), [9, 5, 4, 3])
        assert.strictEqual(yield* expire(replica, at(100)), 2)
        assert.deepStrictEqual(yield* eventsOf(replica, ...all), [9, 5])
        assert.strictEqual(yield* expire(replica, at(100)), 0)
        const agent_id = AgentId.make("a")
        const known = yield* observe(
          replica,
          [{ agents: [agent_id] }, { history: { agent_id, event_ids: all.map(eventId) } }],
          ({ agents, knownEvents }) =>
            all.filter((n) =>
              knownEvents.has((agents.get(agent_id) ?? agentRecord("b")).registration_id, eventId(n)),
            ),
        )
        assert.deepStrictEqual(known, [5, 9])
      }),
    )

    it.effect("expires rows stored after one that was received while the clock was ahead", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const agent = agentRecord("a")
        const { agent_id, registration_id } = agent
        yield* transact(replica.storage, function* (unit) {
          yield { agents: [agent_id] }
          unit.putAgent(agent)
          for (const [n, received] of [0, 50, 1, 2, 60, 3, 4].entries())
            unit.store({ ...eventOf(n), agent_id, registration_id, received_at: at(received) })
        })
        assert.strictEqual(yield* expire(replica, at(3), 2), 3)
        assert.deepStrictEqual(yield* eventsOf(replica, ...range(7)), [6, 5, 4, 1])
        assert.strictEqual(yield* expire(replica, at(10), 2), 1)
        assert.deepStrictEqual(yield* eventsOf(replica, ...range(7)), [6, 4, 1])
        assert.strictEqual(yield* expire(replica, at(100), 2), 2)
        assert.deepStrictEqual(yield* eventsOf(replica, ...range(7)), [6])
      }),
    )

    race(subject, { name: "expired from several clients concurrently, each row once" }, (replica) =>
      Effect.gen(function* () {
        const names = range(8).map((n) => `agent-${n}`)
        yield* Effect.forEach(names, (name) => putHistory(replica(0), name))
        const counts = yield* Effect.forEach(range(4), (n) => expire(replica(n), at(100), 3), {
          concurrency: "unbounded",
        })
        // A side may stop early where another one holds the last rows.
        const rest = yield* expire(replica(0), at(100), 3)
        const sum = counts.reduce((total, count) => total + count, rest)
        assert.strictEqual(sum, names.length * 5)
        assert.strictEqual((yield* rowsOf(replica(1), "history")).length, names.length * 2)
      }),
    )
  })
}
