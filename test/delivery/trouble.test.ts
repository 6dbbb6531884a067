import { assert, describe, it } from "@effect/vitest"
import { CurrentInstruments, Instruments } from "@tocsin/core/engine/metrics/Instruments"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { itemsOf, statesOf } from "./outboxOf.ts"
import { type Answer, delivered, makeReceivers } from "./Receivers.ts"
import { AGENT, enroll, report } from "./reports.ts"
import { settled } from "./settled.ts"
import { openSite } from "./Site.ts"

const open = Effect.fnUntraced(function* (answer: Answer = delivered, hints = true) {
  const receivers = makeReceivers({ answerTo: () => answer })
  const site = yield* openSite({ receivers, notifiers: ["webhook"], hints })
  const front = yield* site.open("front", { delivers: false })
  const process = yield* site.open("first")
  yield* enroll(front, AGENT)
  yield* settled
  return { site, front, process, receivers }
})

const critical = [{ check: "disk", status: "critical" }] as const

describe("while the storage is away", () => {
  it.effect("delivery waits, and goes on within a second of its return", () =>
    Effect.gen(function* () {
      const { site, front, process } = yield* open()
      process.faults.isAway = true
      yield* report(front, critical)
      yield* TestClock.adjust(Duration.minutes(10))
      assert.deepStrictEqual(statesOf(site), ["firing pending"])
      process.faults.isAway = false
      yield* TestClock.adjust(Duration.seconds(1))
      assert.deepStrictEqual(statesOf(site), ["firing sent"])
    }),
  )

  it.effect("the result of an attempt is not forgotten: nobody gets a message twice", () =>
    Effect.gen(function* () {
      const { site, front, process, receivers } = yield* open({ ...delivered, answeringMillis: 1_000 })
      yield* report(front, critical)
      yield* settled
      process.faults.isAway = true
      yield* TestClock.adjust(Duration.seconds(50))
      assert.deepStrictEqual(statesOf(site), ["firing sending"])
      process.faults.isAway = false
      yield* TestClock.adjust(Duration.seconds(2))
      assert.deepStrictEqual(statesOf(site), ["firing sent"])
      yield* TestClock.adjust(Duration.hours(1))
      assert.strictEqual(receivers.arrivals.length, 1)
    }),
  )

  it.effect("for longer than a lease, the attempt is repeated: rather twice than never", () =>
    Effect.gen(function* () {
      const { site, front, process, receivers } = yield* open({ ...delivered, answeringMillis: 1_000 })
      yield* report(front, critical)
      yield* settled
      process.faults.isAway = true
      yield* TestClock.adjust(Duration.seconds(90))
      process.faults.isAway = false
      yield* TestClock.adjust(Duration.seconds(30))
      assert.deepStrictEqual(statesOf(site), ["firing sent"])
      assert.strictEqual(receivers.arrivals.length, 2)
      assert.deepInclude(itemsOf(site)[0], { attempts: 2 })
    }),
  )

  it.effect("for longer than a lease, attempts that could not be ended hold no place at the notifier", () =>
    Effect.gen(function* () {
      const { front, process, receivers } = yield* open({ ...delivered, answeringMillis: 1_000 }, false)
      const checks = Array.from({ length: 8 }, (_, at) => ({
        check: `check-${at}`,
        status: "critical" as const,
      }))
      yield* report(front, checks)
      yield* TestClock.adjust(Duration.seconds(15))
      assert.strictEqual(receivers.attempts.length, 8)
      process.faults.isAway = true
      yield* TestClock.adjust(Duration.seconds(65))
      process.faults.isAway = false
      yield* report(front, critical)
      yield* TestClock.adjust(Duration.seconds(16))
      assert.isAbove(receivers.attempts.length, 8)
    }),
  )
})

describe("a dead letter", () => {
  it.effect("is counted once, when the last attempt was made", () =>
    Effect.gen(function* () {
      const instruments = new Instruments()
      const { site, front } = yield* open({ ...delivered, outcome: "refused", reaches: false }).pipe(
        Effect.provideService(CurrentInstruments, instruments),
      )
      assert.strictEqual(instruments.givenUp.of("webhook").value, 0)
      yield* report(front, critical)
      yield* settled
      assert.deepStrictEqual(statesOf(site), ["firing failed"])
      yield* TestClock.adjust(Duration.hours(1))
      assert.strictEqual(instruments.givenUp.of("webhook").value, 1)
    }),
  )
})

describe("a mistake in the program", () => {
  it.effect("of a notifier counts as a failed attempt, not as the end of its worker", () =>
    Effect.gen(function* () {
      const { site, front, receivers } = yield* open({ ...delivered, outcome: "throws", reaches: false })
      yield* report(front, critical)
      yield* settled
      assert.deepInclude(itemsOf(site)[0], {
        state: "retry",
        last_error: "the notifier failed unexpectedly; see the log",
      })
      yield* TestClock.adjust(Duration.seconds(6))
      assert.strictEqual(receivers.attempts.length, 2)
    }),
  )

  it.effect("of the storage does not end a worker either", () =>
    Effect.gen(function* () {
      const { site, front, process } = yield* open()
      process.faults.throws = true
      yield* report(front, critical)
      yield* TestClock.adjust(Duration.minutes(1))
      assert.deepStrictEqual(statesOf(site), ["firing pending"])
      process.faults.throws = false
      yield* TestClock.adjust(Duration.seconds(1))
      assert.deepStrictEqual(statesOf(site), ["firing sent"])
    }),
  )
})
