import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { anyOutboxStory, LONGEST, orderlyOutboxStory } from "./OutboxStory.ts"
import { play } from "./playOutboxStory.ts"

const arbitrary = { runs: propertyRuns(100), size: LONGEST, maxShrinks: 500 }

describe("several processes with one outbox", () => {
  it.effect.prop(
    "deliver by the laws, with any faults of receivers, storage and processes",
    { scenario: anyOutboxStory },
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
    { scenario: orderlyOutboxStory },
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
