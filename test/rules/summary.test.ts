import * as Instant from "@tocsin/core/contract/Instant"
import { agentStatus } from "@tocsin/core/liveness/agentStatus"
import { defaultPolicy } from "@tocsin/core/ports/Policy"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { start } from "../storage/samples.ts"
import { integer } from "./arbitraries.ts"
import { enrollment, life, SIZE } from "./Scenario.ts"
import { openWorld } from "./World.ts"

const arbitrary = { runs: 150, size: SIZE, maxShrinks: 1_000 }
const limit = 500

describe("the summary", () => {
  it.effect.prop(
    "is what counting the lists comes to",
    { steps: life },
    ({ steps }) =>
      Effect.gen(function* () {
        const world = yield* openWorld()
        yield* world.play([...enrollment, ...steps])
        const queries = world.queries()
        const agents = (yield* queries.agents({ limit })).items.filter((agent) => agent.admission_state === "accepted")
        const checks = (yield* queries.checks({ limit })).items
        const incidents = (yield* queries.incidents({ limit, sort: "status", direction: "desc" })).items
        const online = agents.filter((agent) => agent.status === "alive").length
        const withStatus = (status: string) => checks.filter((check) => check.status === status).length
        assert.deepStrictEqual(yield* queries.summary, {
          agents_online: online,
          agents_offline: agents.length - online,
          checks_ok: withStatus("ok"),
          checks_warning: withStatus("warning"),
          checks_critical: withStatus("critical"),
          checks_unknown: withStatus("unknown"),
          open_incidents: incidents.filter((incident) => incident.state === "open").length,
          generated_at: yield* Instant.now,
        })
      }),
    { arbitrary },
  )

  it.effect.prop(
    "rests on counts that every agent's row keeps of its checks",
    { steps: life },
    ({ steps }) =>
      Effect.gen(function* () {
        const world = yield* openWorld()
        for (const { after } of yield* world.play([...enrollment, ...steps])) {
          for (const agent of after.agents.values()) {
            const checks = Array.from(after.checks.values()).filter((check) => check.agent_id === agent.agent_id)
            const count = (status: string) => checks.filter((check) => check.status === status).length
            assert.deepStrictEqual(
              [agent.checks_ok, agent.checks_warning, agent.checks_critical, agent.checks_unknown],
              [count("ok"), count("warning"), count("critical"), count("unknown")],
            )
          }
        }
      }),
    { arbitrary },
  )
})

describe("the status of an agent", () => {
  const ALIVE_MICROS = 120_000_000
  const DEAD_MICROS = 300_000_000

  const statusAfter = (micros: number) =>
    agentStatus(start, Instant.fromMicros(start + BigInt(micros)), defaultPolicy)

  it.prop(
    "follows from how long ago it was seen, to the microsecond",
    { micros: integer(0, 2 * DEAD_MICROS) },
    ({ micros }) => {
      const expected = micros < ALIVE_MICROS ? "alive" : micros < DEAD_MICROS ? "stale" : "dead"
      assert.strictEqual(statusAfter(micros), expected)
    },
    { arbitrary: { runs: 500 } },
  )

  it.each([
    [0, "alive"],
    [ALIVE_MICROS - 1, "alive"],
    [ALIVE_MICROS, "stale"],
    [DEAD_MICROS - 1, "stale"],
    [DEAD_MICROS, "dead"],
  ] as const)("%i µs after it was seen is %s", (micros, status) => {
    assert.strictEqual(statusAfter(micros), status)
  })

  it.effect("and the summary turn at the same moments", () =>
    Effect.gen(function* () {
      const world = yield* openWorld()
      yield* world.play(enrollment)
      const turns: Array<string> = []
      for (const millis of [0, 119_999, 1, 179_999, 1]) {
        yield* TestClock.adjust(millis)
        const { items } = yield* world.queries().agents({ limit })
        const { agents_online, agents_offline } = yield* world.queries().summary
        turns.push(`${items[0]?.status} ${agents_online} ${agents_offline}`)
      }
      assert.deepStrictEqual(turns, ["alive 3 0", "alive 3 0", "stale 0 3", "stale 0 3", "dead 0 3"])
    }),
  )
})
