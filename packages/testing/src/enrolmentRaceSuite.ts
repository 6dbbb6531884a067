import { assert, describe } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { Effect, Redacted } from "effect"
import { inconsistencies } from "./inconsistencies.ts"
import { range } from "./numbers.ts"
import { rowOf } from "./observe.ts"
import { atOnce, outcomeOf, race } from "./race.ts"
import type { Replica } from "./Replica.ts"
import { rowsOf } from "./rowsOf.ts"
import { agentNames, keyOf, register } from "./samples.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

/** Creates an enrolment for that many agents, or for one. */
export const enrolmentFor = (replica: Replica, uses: number, only?: string) =>
  Effect.map(
    replica.admission.enrolments.create({
      uses,
      ...(only !== undefined && { agent_id: AgentId.make(only) }),
    }),
    ({ id, token }) => ({ id, token: Redacted.make(token) }),
  )

/** Shows a token under the key of the agent's name, or another one. */
export const enrol = ({ ingest }: Replica, agent: string, token: Redacted.Redacted, key = agent) =>
  outcomeOf(ingest.enrol(keyOf(key), { agent_id: AgentId.make(agent), token }))

/** Agents that enrol at the same moment (docs/rules.md#enrolment). */
export const enrolmentRaceSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("concurrent enrolments", () => {
    race(subject, { name: "of two agents and one use, one is accepted and one stays pending" }, (replica) =>
      Effect.gen(function* () {
        for (const round of range(8)) {
          const agents = [`a-${round}`, `b-${round}`]
          yield* register(replica(0), ...agents)
          const { id, token } = yield* enrolmentFor(replica(0), 1)
          const outcomes = yield* Effect.forEach(agents, (name, n) => enrol(replica(n), name, token), atOnce)
          assert.sameDeepMembers(outcomes, [{ accepted: true }, "NotFound"])
          assert.strictEqual((yield* rowOf(replica(0), "enrolment", id))?.used, 1)
        }
        const states = (yield* rowsOf(replica(0), "agents")).map((row) => row.admission_state)
        assert.strictEqual(states.filter((state) => state === "accepted").length, 8)
        assert.deepStrictEqual(yield* inconsistencies(replica(1)), [])
      }),
    )

    race(subject, { name: "one key that enrols many times spends one use" }, (replica) =>
      Effect.gen(function* () {
        const agents = agentNames(4)
        yield* register(replica(0), ...agents)
        const { id, token } = yield* enrolmentFor(replica(0), 4)
        const outcomes = yield* Effect.forEach(
          agents.flatMap((name) => range(5).map((n) => [name, n] as const)),
          ([name, n]) => enrol(replica(n), name, token),
          atOnce,
        )
        for (const outcome of outcomes) assert.deepStrictEqual(outcome, { accepted: true })
        assert.strictEqual((yield* rowOf(replica(0), "enrolment", id))?.used, 4)
      }),
    )

    race(subject, { name: "blocking during enrolments leaves only the blocked key" }, (replica) =>
      Effect.gen(function* () {
        const agents = agentNames(12)
        yield* register(replica(0), ...agents)
        const { id, token } = yield* enrolmentFor(replica(0), agents.length)
        const outcomes = yield* Effect.forEach(
          agents,
          (name) =>
            Effect.forEach(
              range(3),
              (n): Effect.Effect<unknown> =>
                n === 1
                  ? Effect.orDie(replica(n).admission.block(AgentId.make(name)))
                  : enrol(replica(n), name, token),
              atOnce,
            ),
          atOnce,
        )
        const accepted = outcomes.filter(([first, , third]) => {
          for (const outcome of [first, third])
            if (typeof outcome === "string") assert.strictEqual(outcome, "AgentBlocked")
          return typeof first === "object" || typeof third === "object"
        })
        assert.strictEqual((yield* rowOf(replica(0), "enrolment", id))?.used, accepted.length)
        assert.deepStrictEqual(yield* rowsOf(replica(0), "agents"), [])
        assert.strictEqual((yield* rowsOf(replica(1), "blacklist")).length, agents.length)
        assert.deepStrictEqual(yield* inconsistencies(replica(1)), [])
      }),
    )
  })
}
