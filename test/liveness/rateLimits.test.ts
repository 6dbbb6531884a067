import type { RateLimited } from "@tocsin/core/heart/admission/AdmissionErrors"
import { defaultRules, type RuleOptions } from "@tocsin/core/kernel/ports/RuleSettings"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { AGENT, enroll, report } from "../service/agents.ts"
import { openService, type Process } from "../service/Service.ts"
import { heartbeatOf, keyOf } from "@tocsin/testing/samples"

const open = Effect.fnUntraced(function* (rules: Partial<RuleOptions> = {}) {
  const { heartbeatRate, registrationRate } = defaultRules
  const service = yield* openService({ heartbeatRate, registrationRate, ...rules })
  return yield* service.open("first", { delivers: false })
})

const heartbeat = ({ ingest }: Process, agent: string, address?: string) =>
  ingest.heartbeat(keyOf(agent), heartbeatOf(agent), { address })

/** After how many seconds a refused heartbeat may be sent again; 0 for one that was taken. */
const retryAfter = (process: Process, agent: string, address?: string) =>
  Effect.map(Effect.result(heartbeat(process, agent, address)), (result) => {
    if (Result.isSuccess(result)) return 0
    assert.strictEqual(result.failure._tag, "RateLimited")
    return (result.failure as RateLimited).retryAfterSeconds // Its tag was just looked at.
  })

const takenOf = Effect.fnUntraced(function* (
  process: Process,
  agents: ReadonlyArray<string>,
  address?: string,
) {
  const answers = yield* Effect.forEach(agents, (agent) => retryAfter(process, agent, address))
  return answers.filter((seconds) => seconds === 0).length
})

const times = (count: number, name: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => name(at))

describe("heartbeats of one key", () => {
  it.effect("are limited to a burst of 60 and two per second, independently of other keys", () =>
    Effect.gen(function* () {
      const process = yield* open()
      assert.strictEqual(
        yield* takenOf(
          process,
          times(70, () => "a"),
        ),
        60,
      )
      assert.strictEqual(yield* retryAfter(process, "a"), 1)
      assert.strictEqual(yield* retryAfter(process, "b"), 0)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(
        yield* takenOf(
          process,
          times(5, () => "a"),
        ),
        2,
      )
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(
        yield* takenOf(
          process,
          times(70, () => "a"),
        ),
        60,
      )
    }),
  )

  it.effect("count for accepted, pending and blocked keys", () =>
    Effect.gen(function* () {
      const process = yield* open()
      yield* enroll(process, AGENT)
      assert.strictEqual(
        yield* takenOf(
          process,
          times(70, () => AGENT),
        ),
        59,
      )
      yield* process.admission.block(AGENT)
      assert.isAbove(yield* retryAfter(process, AGENT), 0)
    }),
  )

  it.effect("change nothing when they are refused", () =>
    Effect.gen(function* () {
      const process = yield* open({ heartbeatRate: { perMinute: 1, burst: 1 } })
      yield* heartbeat(process, "a")
      const before = yield* process.queries.agent(AGENT)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual(yield* retryAfter(process, "a"), 30)
      assert.strictEqual((yield* process.queries.agent(AGENT)).last_seen_at, before.last_seen_at)
    }),
  )

  it.effect("do not count requests to /events", () =>
    Effect.gen(function* () {
      const process = yield* open({ heartbeatRate: { perMinute: 1, burst: 1 } })
      yield* enroll(process, AGENT)
      for (let count = 0; count < 100; count++) yield* report(process, [{ check: "disk", status: "ok" }])
    }),
  )

  it.effect("are not limited by a rate of 0", () =>
    Effect.gen(function* () {
      const process = yield* open({ heartbeatRate: { perMinute: 0, burst: 0 } })
      assert.strictEqual(
        yield* takenOf(
          process,
          times(1_000, () => "a"),
        ),
        1_000,
      )
    }),
  )
})

describe("registrations of unknown keys", () => {
  it.effect("are limited to a burst of 300 and ten per second for each address", () =>
    Effect.gen(function* () {
      const process = yield* open()
      assert.strictEqual(
        yield* takenOf(
          process,
          times(320, (at) => `agent-${at}`),
          "192.0.2.1",
        ),
        300,
      )
      assert.strictEqual(yield* retryAfter(process, "one-more", "192.0.2.1"), 1)
      assert.strictEqual(yield* retryAfter(process, "elsewhere", "192.0.2.2"), 0)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(
        yield* takenOf(
          process,
          times(20, (at) => `late-${at}`),
          "192.0.2.1",
        ),
        10,
      )
    }),
  )

  it.effect("are counted for an address, unlike known keys", () =>
    Effect.gen(function* () {
      const process = yield* open({ registrationRate: { perMinute: 1, burst: 3 } })
      yield* Effect.forEach(["a", "b"], (agent) => heartbeat(process, agent, "192.0.2.1"))
      yield* process.admission.accept(AGENT)
      // One is accepted, one is pending.
      assert.strictEqual(
        yield* takenOf(
          process,
          times(50, () => "a"),
          "192.0.2.1",
        ),
        50,
      )
      assert.strictEqual(
        yield* takenOf(
          process,
          times(50, () => "b"),
          "192.0.2.1",
        ),
        50,
      )
      assert.strictEqual(yield* retryAfter(process, "c", "192.0.2.1"), 0)
      assert.strictEqual(yield* retryAfter(process, "d", "192.0.2.1"), 60)
      assert.strictEqual(yield* retryAfter(process, "a", "192.0.2.1"), 0)
    }),
  )

  it.effect("register no agent when they are refused", () =>
    Effect.gen(function* () {
      const process = yield* open({ registrationRate: { perMinute: 1, burst: 1 } })
      yield* heartbeat(process, "a", "192.0.2.1")
      assert.isAbove(yield* retryAfter(process, "b", "192.0.2.1"), 0)
      const { items } = yield* process.queries.agents({ limit: 10 })
      assert.deepStrictEqual(
        items.map(({ agent_id }) => agent_id),
        [AGENT],
      )
    }),
  )

  it.effect("are not limited without an address", () =>
    Effect.gen(function* () {
      const limited = yield* open({ registrationRate: { perMinute: 1, burst: 1 } })
      assert.strictEqual(
        yield* takenOf(
          limited,
          times(50, (at) => `agent-${at}`),
        ),
        50,
      )
    }),
  )

  it.effect("are not limited by a rate of 0", () =>
    Effect.gen(function* () {
      const free = yield* open({ registrationRate: { perMinute: 0, burst: 0 } })
      assert.strictEqual(
        yield* takenOf(
          free,
          times(500, (at) => `agent-${at}`),
          "192.0.2.1",
        ),
        500,
      )
    }),
  )

  it.effect("are refused while too many agents are pending, with Retry-After", () =>
    Effect.gen(function* () {
      const process = yield* open({ maxPendingAgents: 2 })
      assert.strictEqual(yield* takenOf(process, ["a", "b"], "192.0.2.1"), 2)
      assert.isAbove(yield* retryAfter(process, "c", "192.0.2.1"), 0)
      yield* process.admission.accept(AGENT)
      assert.strictEqual(yield* retryAfter(process, "c", "192.0.2.1"), 0)
    }),
  )
})
