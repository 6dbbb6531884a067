import { assert, describe } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { Effect } from "effect"
import { inconsistencies } from "./inconsistencies.ts"
import { atOnce, outcomeOf, race } from "./race.ts"
import { rowsOf } from "./rowsOf.ts"
import { agentNames, enroll, eventOf, heartbeatOf, keyOf, send } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

/** Agents that are blocked or deleted while they report (docs/rules.md#deleting-an-agent). */
export const departureRaceSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("concurrent departures", () => {
    race(subject, { name: "blocking during events leaves only the blocked key of the agent" }, (replica) =>
      Effect.gen(function* () {
        const agents = agentNames(12)
        yield* enroll(replica(0), ...agents)
        const outcomes = yield* Effect.forEach(
          agents.flatMap((agent) => [0, 1, 2, 3].map((n) => [agent, n] as const)),
          ([agent, n]): Effect.Effect<unknown> => {
            const events = [
              eventOf(2 * n, { incident_key: "shared" }),
              eventOf(2 * n + 1, { check_id: "cpu", exit_code: n }),
            ]
            return n === 2
              ? Effect.orDie(replica(n).admission.block(AgentId.make(agent)))
              : outcomeOf(send(replica(n), agent, events))
          },
          atOnce,
        )
        const refusals = outcomes.filter((outcome) => typeof outcome === "string")
        assert.deepStrictEqual(
          refusals.filter((refusal) => refusal !== "AgentBlocked"),
          [],
        )
        assert.strictEqual((yield* rowsOf(replica(0), "blacklist")).length, agents.length)
        for (const list of ["agents", "checks", "history"] as const) {
          assert.deepStrictEqual(yield* rowsOf(replica(1), list), [])
        }
        assert.strictEqual((yield* replica(0).queries.summary).open_incidents, 0)
        assert.deepStrictEqual(yield* rowsOf(replica(0), "outbox", { state: "pending" }), [])
        assert.deepStrictEqual(yield* inconsistencies(replica(1)), [])
      }),
    )

    race(
      subject,
      { name: "deleting during events and heartbeats leaves a new pending agent or none" },
      (replica) =>
        Effect.gen(function* () {
          const agents = agentNames(12)
          yield* enroll(replica(0), ...agents)
          yield* Effect.forEach(
            agents.flatMap((agent) => [0, 1, 2, 3, 4].map((n) => [agent, n] as const)),
            ([agent, n]): Effect.Effect<unknown> => {
              if (n === 2) return Effect.orDie(replica(n).admission.remove(AgentId.make(agent)))
              if (n === 3) return outcomeOf(replica(n).ingest.heartbeat(keyOf(agent), heartbeatOf(agent)))
              return outcomeOf(
                send(replica(n), agent, [eventOf(n, { incident_key: `shared ${n}`, exit_code: n })]),
              )
            },
            atOnce,
          )
          const left = yield* rowsOf(replica(0), "agents")
          assert.isTrue(left.every((agent) => agent.admission_state === "pending"))
          assert.deepStrictEqual(yield* rowsOf(replica(1), "checks"), [])
          assert.deepStrictEqual(yield* rowsOf(replica(1), "history"), [])
          assert.strictEqual((yield* replica(0).queries.summary).open_incidents, 0)
          assert.deepStrictEqual(yield* inconsistencies(replica(1)), [])
          // Those that are back start from nothing, with the very events of before.
          yield* replica(0).admission.acceptAll({ includeRotation: false })
          const replies = yield* Effect.forEach(left, (agent) =>
            send(replica(1), agent.agent_id, [eventOf(0)]),
          )
          assert.deepStrictEqual(
            replies,
            left.map(() => ({ accepted: 1, deduplicated: 0 })),
          )
        }),
    )

    race(subject, { name: "an agent that is concurrently deleted and registered is new" }, (replica) =>
      Effect.gen(function* () {
        const agents = agentNames(10)
        yield* enroll(replica(0), ...agents)
        yield* Effect.forEach(agents, (agent) => send(replica(0), agent, [eventOf(1)]))
        // Through one client, so that a storage may decide all of it in one transaction.
        yield* Effect.forEach(
          agents,
          (agent) =>
            Effect.all(
              [
                replica(0).admission.remove(AgentId.make(agent)),
                replica(0).ingest.heartbeat(keyOf(agent), heartbeatOf(agent, { hostname: "anew" })),
                outcomeOf(replica(0).admission.accept(AgentId.make(agent))),
                outcomeOf(send(replica(0), agent, [eventOf(1)])),
              ],
              atOnce,
            ),
          atOnce,
        )
        // In any order of decisions, each agent is there after this.
        yield* Effect.forEach(agents, (agent) =>
          replica(1).ingest.heartbeat(keyOf(agent), heartbeatOf(agent, { hostname: "anew" })),
        )
        yield* replica(1).admission.acceptAll({ includeRotation: false })
        const found = yield* rowsOf(replica(1), "agents")
        assert.deepStrictEqual(
          found.map((agent) => [agent.agent_id, agent.hostname, agent.admission_state]),
          agents.toSorted().map((agent) => [AgentId.make(agent), "anew", "accepted"]),
        )
        yield* Effect.forEach(agents, (agent) => send(replica(1), agent, [eventOf(1)]))
        assert.strictEqual((yield* rowsOf(replica(0), "history")).length, agents.length)
        assert.deepStrictEqual(yield* inconsistencies(replica(1)), [])
      }),
    )
  })
}
