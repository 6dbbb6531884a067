import { assert, it } from "@effect/vitest"
import { decodeExpectationsRequest } from "@tocsin/contract/v1/decodeRequest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { followLabels } from "@tocsin/core/heart/policy/followLabels"
import { heartbeatOf, keyOf } from "@tocsin/testing/samples"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { enroll, heartbeat, report } from "../service/agents.ts"
import { openService } from "../service/Service.ts"

const [A, B, C] = [AgentId.make("a"), AgentId.make("b"), AgentId.make("c")]

const declare = (process: Parameters<typeof report>[0], check_id: string, labels: object) => {
  const checks = [{ check_id, labels }]
  const request = Result.getOrThrow(decodeExpectationsRequest({ checks, complete: false }))
  return process.ingest.expectations(keyOf(A), { agent_id: A, request })
}

const rename = (process: Parameters<typeof report>[0], agent: AgentId, hostname: string) =>
  Effect.flatMap(Instant.now, (observed_at) =>
    process.ingest.heartbeat(keyOf(agent), heartbeatOf(agent, { observed_at, hostname })),
  )

it.effect("the stamp of labels changes with those that matchers compare and with hostnames alone", () =>
  Effect.gen(function* () {
    const service = yield* openService()
    const process = yield* service.open("only")
    /** Whether an act raised the stamp, for a process that starts then. */
    const raises = Effect.fnUntraced(function* (act: Effect.Effect<unknown, unknown>) {
      const before = yield* followLabels(process.commits)
      yield* TestClock.adjust("1 minute")
      yield* Effect.orDie(act)
      return (yield* followLabels(process.commits)) !== before
    })
    yield* enroll(process, A, B)
    yield* report(process, [{ check: "disk", status: "ok" }], A)
    const acts: ReadonlyArray<
      readonly [name: string, act: Effect.Effect<unknown, unknown>, isChange: boolean]
    > = [
      ["nothing", Effect.void, false],
      ["an agent has labels", heartbeat(process, A, { team: "db" }), true],
      ["its labels are equal", heartbeat(process, A, { team: "db" }), false],
      ["they move to another agent", heartbeat(process, B, { team: "db" }), true],
      ["a check turns critical", report(process, [{ check: "disk", status: "critical" }], A), false],
      ["a check has labels", declare(process, "disk", { rack: "7" }), true],
      ["a check has equal labels", declare(process, "disk", { rack: "7" }), false],
      ["a check has others", declare(process, "disk", { rack: "8" }), true],
      ["a check that has not reported has labels", declare(process, "load", { rack: "8" }), false],
      ["an agent is renamed", rename(process, A, "other.example.org"), true],
      ["an agent registers", heartbeat(process, C, { team: "db" }), false],
      ["a pending agent is renamed", rename(process, C, "other.example.org"), false],
      ["an agent leaves", process.admission.remove(B), false],
    ]
    for (const [name, act, isChange] of acts) assert.strictEqual(yield* raises(act), isChange, name)
  }),
)

it.effect("a change of labels is followed at once, and those of the next five minutes after these", () =>
  Effect.gen(function* () {
    const service = yield* openService()
    const process = yield* service.open("only")
    const stamp = followLabels(process.commits)
    yield* enroll(process, A)
    const isFollowed = Effect.fnUntraced(function* (team: string) {
      const before = yield* stamp
      yield* TestClock.adjust("1 second")
      yield* heartbeat(process, A, { team })
      return (yield* stamp) !== before
    })
    assert.isTrue(yield* isFollowed("db"))
    assert.isFalse(yield* isFollowed("web"))
    const before = yield* stamp
    yield* TestClock.adjust("298 seconds")
    assert.strictEqual(yield* stamp, before)
    yield* TestClock.adjust("1 second")
    assert.notStrictEqual(yield* stamp, before)
    assert.isFalse(yield* isFollowed("db"))
  }),
)
