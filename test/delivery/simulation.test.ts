import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { anyScenario, LONGEST, orderlyScenario } from "./Scenario.ts"
import { play } from "./Simulation.ts"

const arbitrary = { runs: propertyRuns(100), size: LONGEST, maxShrinks: 500 }

describe("several processes deliver one outbox", () => {
  it.effect.prop(
    "by the laws, whatever receivers, storage and processes do",
    { scenario: anyScenario },
    ({ scenario }) =>
      Effect.gen(function* () {
        const { watch, receivers, broken } = yield* play(scenario)
        assert.deepStrictEqual(broken, [])
        for (const item of watch.items.values()) {
          if (item.state === "sent")
            assert.isAtLeast(receivers.arrivals.filter((one) => one.notification.id === item.id).length, 1)
        }
      }),
    { arbitrary },
  )

  it.effect.prop(
    "exactly once where nobody dies and no answer is lost",
    { scenario: orderlyScenario },
    ({ scenario }) =>
      Effect.gen(function* () {
        const { watch, receivers, broken } = yield* play(scenario)
        assert.deepStrictEqual(broken, [])
        for (const item of watch.items.values()) {
          const arrivals = receivers.arrivals.filter((one) => one.notification.id === item.id)
          assert.strictEqual(arrivals.length, item.state === "sent" ? 1 : 0)
        }
      }),
    { arbitrary },
  )
})
