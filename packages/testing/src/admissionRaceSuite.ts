import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { Effect } from "effect"
import { atOnce, outcomeOf, race } from "./race.ts"
import { agentRecord, blacklistIdOf, blockedKeyRecord, keyHashOf, write } from "./records.ts"
import { openReplica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { agentNames, enroll, heartbeatOf, keyOf, register } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"
import { range, sum } from "./numbers.ts"

const describeRegistrations = <Place>(subject: StorageUnderTest<Place>): void => {
  race(subject, { name: "of two keys for one agent ID, one is pending and one is refused" }, (replica) =>
    Effect.gen(function* () {
      const agents = agentNames(12)
      const outcomes = yield* Effect.forEach(
        agents,
        (agent) =>
          Effect.forEach(
            [0, 1],
            (n) => outcomeOf(replica(n).ingest.heartbeat(keyOf(`${agent} key ${n}`), heartbeatOf(agent))),
            atOnce,
          ),
        atOnce,
      )
      for (const pair of outcomes) {
        assert.sameDeepMembers(pair, [{ accepted: false }, "KeyConflict"])
      }
      assert.strictEqual((yield* rowsOf(replica(0), "agents")).length, agents.length)
    }),
  )

  race(subject, { name: "of two agent IDs for one key, one is pending and one is refused" }, (replica) =>
    Effect.gen(function* () {
      const outcomes = yield* Effect.forEach(
        range(12),
        (key) =>
          Effect.forEach(
            [0, 1],
            (n) =>
              outcomeOf(replica(n).ingest.heartbeat(keyOf(`key ${key}`), heartbeatOf(`agent-${key}-${n}`))),
            atOnce,
          ),
        atOnce,
      )
      for (const pair of outcomes) {
        assert.sameDeepMembers(pair, [{ accepted: false }, "KeyConflict"])
      }
      assert.strictEqual((yield* rowsOf(replica(0), "agents")).length, 12)
    }),
  )

  race(subject, { name: "one heartbeat sent many times concurrently registers once" }, (replica) =>
    Effect.gen(function* () {
      const replies = yield* Effect.forEach(
        range(20),
        (n) => replica(n).ingest.heartbeat(keyOf("a"), heartbeatOf("a")),
        atOnce,
      )
      assert.isTrue(replies.every((reply) => !reply.accepted))
      assert.strictEqual((yield* rowsOf(replica(0), "agents")).length, 1)
      assert.deepStrictEqual(yield* replica(0).admission.acceptAll({ includeRotation: true }), { count: 1 })
    }),
  )

  race(
    subject,
    { name: "registrations stop exactly at the limit of pending agents", rules: { maxPendingAgents: 5 } },
    (replica) =>
      Effect.gen(function* () {
        yield* enroll(replica(0), "accepted-1", "accepted-2")
        const outcomes = yield* Effect.forEach(
          agentNames(30),
          (agent, n) => outcomeOf(replica(n).ingest.heartbeat(keyOf(agent), heartbeatOf(agent))),
          atOnce,
        )
        assert.strictEqual(outcomes.filter((outcome) => outcome === "RateLimited").length, 25)
        assert.strictEqual((yield* rowsOf(replica(0), "agents")).length, 7)
        assert.deepStrictEqual(yield* replica(1).admission.removeAll, { count: 5 })
        yield* register(replica(1), "another")
      }),
  )
}

const describeActions = <Place>(subject: StorageUnderTest<Place>): void => {
  race(subject, { name: "concurrent accepts count once" }, (replica) =>
    Effect.gen(function* () {
      const agents = agentNames(8)
      yield* register(replica(0), ...agents)
      const counts = yield* Effect.forEach(
        agents,
        (agent) => Effect.forEach(range(6), (n) => replica(n).admission.accept(AgentId.make(agent)), atOnce),
        atOnce,
      )
      for (const replies of counts) assert.strictEqual(sum(replies.map((reply) => reply.count)), 1)
    }),
  )

  race(subject, { name: "concurrent actions on all agents count each agent once" }, (replica) =>
    Effect.gen(function* () {
      const agents = agentNames(40)
      yield* register(replica(0), ...agents)
      const accepted = yield* Effect.forEach(
        range(6),
        (n) => replica(n).admission.acceptAll({ includeRotation: n % 2 === 0 }),
        atOnce,
      )
      assert.strictEqual(sum(accepted.map((reply) => reply.count)), agents.length)
      yield* Effect.forEach(agents, (agent, n) =>
        replica(n).ingest.heartbeat(keyOf(`${agent} next`), heartbeatOf(agent)),
      )
      const blocked = yield* Effect.forEach(range(6), (n) => replica(n).admission.blockAll, atOnce)
      assert.strictEqual(sum(blocked.map((reply) => reply.count)), agents.length)
      const unblocked = yield* Effect.forEach(range(6), (n) => replica(n).admission.unblockAll, atOnce)
      assert.strictEqual(sum(unblocked.map((reply) => reply.count)), agents.length)
      assert.strictEqual((yield* rowsOf(replica(1), "agents")).length, agents.length)
    }),
  )

  race(
    subject,
    { name: "concurrent accept-all, block-all and remove-all act on each agent once" },
    (replica) =>
      Effect.gen(function* () {
        const agents = agentNames(40)
        yield* register(replica(0), ...agents)
        const [accepted, blocked, removed] = yield* Effect.all(
          [
            replica(0).admission.acceptAll({ includeRotation: true }),
            replica(1).admission.blockAll,
            replica(2).admission.removeAll,
          ],
          atOnce,
        )
        assert.strictEqual(accepted.count + blocked.count + removed.count, agents.length)
        assert.strictEqual((yield* rowsOf(replica(0), "agents")).length, accepted.count)
        assert.strictEqual((yield* rowsOf(replica(0), "blacklist")).length, blocked.count)
      }),
  )
}

const describeManyAgents = <Place>(subject: StorageUnderTest<Place>): void => {
  it.live("accepting all of 2,500 pending agents counts each", () =>
    Effect.gen(function* () {
      const replica = yield* openReplica(subject)
      const crowd = agentNames(2_500)
      const pending = { admission_state: "pending", accepted_key_hash: undefined } as const
      yield* write(replica, [], ({ agents, keys }) => {
        for (const name of crowd) {
          const agent = agentRecord(name, { ...pending, pending_key_hash: keyHashOf(name) })
          agents.put(agent)
          keys.put({
            key_hash: keyHashOf(name),
            key_fingerprint: agent.key_fingerprint,
            agent_id: agent.agent_id,
            created_at: agent.registered_at,
            last_seen_at: agent.last_seen_at,
            state: "pending",
          })
        }
      })
      const accept = replica.admission.acceptAll({ includeRotation: false })
      assert.deepStrictEqual([yield* accept, yield* accept], [{ count: crowd.length }, { count: 0 }])
      const agents = yield* rowsOf(replica, "agents")
      assert.strictEqual(agents.filter((agent) => agent.admission_state === "accepted").length, crowd.length)
    }),
  )
}

const describeUnblocking = <Place>(subject: StorageUnderTest<Place>): void => {
  race(
    subject,
    { name: "a key that is unblocked while in use stays unblocked, and is unblocked once" },
    (replica) =>
      Effect.gen(function* () {
        const agents = agentNames(16)
        // Not seen for long, so that its heartbeats write the row that unblocking deletes.
        yield* write(replica(0), [], ({ keys }) =>
          agents.forEach((agent) => keys.put(blockedKeyRecord(agent))),
        )
        const outcomes = yield* Effect.forEach(
          agents.flatMap((agent) => range(6).map((n) => [agent, n] as const)),
          ([agent, n]): Effect.Effect<unknown> =>
            n % 2 === 0
              ? outcomeOf(replica(n >> 1).ingest.heartbeat(keyOf(agent), heartbeatOf(agent)))
              : Effect.orDie(replica(n >> 1).admission.unblock(blacklistIdOf(agent))),
          atOnce,
        )
        const counted = outcomes.filter((outcome) => JSON.stringify(outcome) === JSON.stringify({ count: 1 }))
        assert.strictEqual(counted.length, agents.length)
        assert.deepStrictEqual(yield* rowsOf(replica(0), "blacklist"), [])
        yield* register(replica(1), ...agents)
        assert.strictEqual((yield* rowsOf(replica(1), "agents")).length, agents.length)
      }),
  )
}

/** Keys and agents that several requests decide about at the same moment (docs/rules.md#agent-keys). */
export const admissionRaceSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("concurrent admission", () => {
    describeRegistrations(subject)
    describeActions(subject)
    describeManyAgents(subject)
    describeUnblocking(subject)
  })
}
