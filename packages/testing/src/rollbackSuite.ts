import { assert, describe, it } from "@effect/vitest"
import { recordAudit } from "@tocsin/core/heart/audit/recordAudit"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { Command } from "@tocsin/core/kernel/unitOfWork/Decision"
import { Cause, Deferred, Effect, Exit, Fiber } from "effect"
import { inconsistencies } from "./inconsistencies.ts"
import { observe } from "./observe.ts"
import { agentRecord, incidentRecord, keyHashOf, memberRecord, outboxRecord } from "./records.ts"
import { openReplica, type Replica } from "./Replica.ts"
import { listNames } from "@tocsin/core/lists/ListDefinitions"
import { rowsOf } from "./rowsOf.ts"
import { enroll, eventOf, heartbeatOf, keyOf, send } from "./samples.ts"
import { signedBy } from "./signedBy.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

const a = AgentId.make("a")
const failure = new Error("thrown by a decision")

/** Changes a row of every table, then throws. */
const changeAllAndThrow: Command<never> = function* (unit, now) {
  yield { agents: [a], groups: { agent_key: [a] }, pendingAgents: true }
  unit.putAgent(agentRecord("a", { hostname: "must not be kept" }))
  unit.putAgent(agentRecord("a", { hostname: "must not be kept either" }))
  unit.keys.delete(keyHashOf("a"))
  unit.incidents.put(incidentRecord("x"))
  unit.members.put(memberRecord({ incident: "x", agent: "a", check: "disk" }))
  unit.outbox.put(outboxRecord("x", "x"))
  const { registration_id } = agentRecord("a")
  recordAudit(unit, signedBy("ann"), "agent.deleted", [a], {})
  unit.store({ ...eventOf(9), agent_id: a, registration_id, received_at: now })
  yield { groups: { incident_member: [a] } }
  throw failure
}

const throwAtOnce = (what: unknown): Command<never> =>
  // oxlint-disable-next-line eslint/require-yield -- it fails before its first request
  function* () {
    throw what
  }

const everything = (replica: Replica) =>
  Effect.all([
    ...listNames.map((list) => rowsOf(replica, list)),
    observe(replica, [{ groups: { agent_key: [a] } }], ({ keys }) => keys.group("a").length),
  ])

const defectOf = (exit: Exit.Exit<unknown, unknown>): unknown =>
  Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined

/** A command whose decision throws is as if it had never been; those beside it are as if it had not been there. */
export const rollbackSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe("a decision that throws", () => {
    it.effect("is a defect of its caller, and changes nothing", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        yield* enroll(replica, "a")
        yield* send(replica, "a", [eventOf(1)])
        const before = yield* everything(replica)
        for (const [command, thrown] of [
          [changeAllAndThrow, failure],
          [throwAtOnce(failure), failure],
          [throwAtOnce("a text"), "a text"],
        ] as const) {
          const exit = yield* Effect.exit(replica.storage.transact(command))
          assert.isTrue(Exit.isFailure(exit) && Cause.hasDies(exit.cause))
          assert.strictEqual(defectOf(exit), thrown)
          assert.deepStrictEqual(yield* everything(replica), before)
        }
        assert.deepStrictEqual(yield* send(replica, "a", [eventOf(2, { status: "ok" })]), {
          accepted: 1,
          deduplicated: 0,
        })
      }),
    )

    it.live("does not affect decisions submitted with it, even on the same rows", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const agents = Array.from({ length: 20 }, (_, n) => `agent-${n}`)
        yield* enroll(replica, "a", ...agents)
        const commands = agents.flatMap((agent, n): ReadonlyArray<Effect.Effect<unknown, unknown>> => [
          send(replica, agent, [eventOf(n, { incident_key: "shared" })]),
          replica.storage.transact(n % 2 === 0 ? changeAllAndThrow : throwAtOnce(failure)),
          replica.ingest.heartbeat(keyOf("a"), heartbeatOf("a", { hostname: `host-${n}` })),
        ])
        const exits = yield* Effect.forEach(commands, Effect.exit, { concurrency: "unbounded" })
        assert.deepStrictEqual(
          exits.map((exit) => defectOf(exit)),
          exits.map((_, n) => (n % 3 === 1 ? failure : undefined)),
        )
        assert.match((yield* replica.storage.agent(a))?.hostname ?? "", /^host-\d+$/)
        const incidents = yield* rowsOf(replica, "incidents")
        assert.deepStrictEqual(
          incidents.map((row) => [row.incident_key, row.members_critical]),
          [["shared", agents.length]],
        )
        assert.deepStrictEqual(yield* inconsistencies(replica), [])
      }),
    )

    it.live("an interrupted caller does not affect others", () =>
      Effect.gen(function* () {
        const replica = yield* openReplica(subject)
        const agents = Array.from({ length: 10 }, (_, n) => `agent-${n}`)
        yield* enroll(replica, ...agents)
        const started = yield* Deferred.make<void>()
        const leaving = yield* Effect.forkChild(
          Effect.forEach(
            agents,
            (agent) =>
              Effect.andThen(
                Deferred.succeed(started, undefined),
                send(replica, agent, [eventOf(1, { check_id: "left", incident_key: "shared" })]),
              ),
            { concurrency: "unbounded" },
          ),
        )
        yield* Deferred.await(started)
        const staying = yield* Effect.forkChild(
          Effect.forEach(agents, (agent) => send(replica, agent, [eventOf(2, { incident_key: "shared" })]), {
            concurrency: "unbounded",
          }),
        )
        yield* Fiber.interrupt(leaving)
        const replies = yield* Fiber.join(staying)
        assert.strictEqual(
          replies.reduce((sum, reply) => sum + reply.accepted, 0),
          agents.length,
        )
        const checks = yield* rowsOf(replica, "checks")
        assert.strictEqual(checks.filter((row) => row.check_id === "disk").length, agents.length)
        assert.deepStrictEqual(yield* inconsistencies(replica), [])
      }),
    )
  })
}
