import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { anyScenario, LONGEST, orderlyScenario } from "./Scenario.ts"
import { play } from "./playScenario.ts"

const arbitrary = { runs: propertyRuns(100), size: LONGEST, maxShrinks: 500 }

describe("several processes with one outbox", () => {
  it.effect.prop(
    "deliver by the laws, with any faults of receivers, storage and processes",
    { scenario: anyScenario },
    ({ scenario }) =>
      Effect.gen(function* () {
        const { service, broken } = yield* play(scenario)
        assert.deepStrictEqual(broken, [])
        for (const item of service.rows().outbox.values()) {
          if (item.state === "sent")
            assert.isAtLeast(
              service.receivers.arrivals.filter((one) => one.notification.id === item.id).length,
              1,
            )
        }
      }),
    { arbitrary },
  )

  it.effect.prop(
    "deliver exactly once when no process crashes and no answer is lost",
    { scenario: orderlyScenario },
    ({ scenario }) =>
      Effect.gen(function* () {
        const { service, broken } = yield* play(scenario)
        assert.deepStrictEqual(broken, [])
        for (const item of service.rows().outbox.values()) {
          const arrivals = service.receivers.arrivals.filter((one) => one.notification.id === item.id)
          assert.strictEqual(arrivals.length, item.state === "sent" ? 1 : 0)
        }
      }),
    { arbitrary },
  )
})
