import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { deferred, delivered, hanging, makeReceivers } from "./Receivers.ts"
import { AGENT, enroll, report } from "./reports.ts"
import { openSite, type Process } from "./Site.ts"

const statesOf = (items: Iterable<{ readonly state: string }>) => Array.from(items, (item) => item.state)

/** Lets all fibers run until they wait, without moving the clock. */
const settle = TestClock.adjust(0)

const openIdle = Effect.fnUntraced(function* (receivers = makeReceivers({ answerTo: () => delivered })) {
  const site = yield* openSite({ receivers })
  const process = yield* site.open("first")
  yield* enroll(process, AGENT)
  // It has been idle for a while, so that what comes is not met by the look at the start.
  yield* TestClock.adjust(Duration.minutes(1))
  return { site, process, receivers }
})

const critical = (process: Process, check = "disk") => report(process, [{ check, status: "critical" }])

describe("a new item", () => {
  it.effect("is attempted at once by an idle service", () =>
    Effect.gen(function* () {
      const { site, process, receivers } = yield* openIdle()
      yield* critical(process)
      yield* settle
      assert.deepStrictEqual(statesOf(site.watch.items.values()), ["sent"])
      assert.strictEqual(receivers.arrivals.length, 1)
    }),
  )
})
