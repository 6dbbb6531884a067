import * as Instant from "@tocsin/core/contract/Instant"
import type { NotifierName } from "@tocsin/core/contract/Status"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Answer, deferred, delivered, hanging, makeReceivers, timedOut } from "./Receivers.ts"
import { AGENT, enroll, report } from "./reports.ts"
import { openSite, type ProcessOptions } from "./Site.ts"
import { statesOf } from "./outboxOf.ts"
import { settled } from "./settled.ts"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { oneOf } from "../rules/arbitraries.ts"

const openIdle = Effect.fnUntraced(function* (
  answerTo: (notifier: NotifierName) => Answer = () => delivered,
  notifiers: ReadonlyArray<NotifierName> = ["debug"],
  { hints = false, ...options }: ProcessOptions & { readonly hints?: boolean } = {},
) {
  const receivers = makeReceivers({ answerTo: ({ notifier }) => answerTo(notifier) })
  const site = yield* openSite({ receivers, notifiers, hints })
  const process = yield* site.open("first", options)
  yield* enroll(process, AGENT)
  // It has been idle for a while, so that what comes is not met by the look at the start.
  yield* TestClock.adjust(Duration.minutes(1))
  return { site, process, receivers }
})

const checks = (count: number) =>
  Array.from({ length: count }, (_, number) => ({ check: `check-${number}`, status: "critical" as const }))

describe("a new item", () => {
  it.effect("is attempted at once by an idle service", () =>
    Effect.gen(function* () {
      const { site, process, receivers } = yield* openIdle()
      yield* report(process, [{ check: "disk", status: "critical" }])
      yield* settled
      assert.deepStrictEqual(statesOf(site), ["firing sent"])
      yield* report(process, [{ check: "disk", status: "ok" }])
      yield* settled
      assert.deepStrictEqual(statesOf(site), ["firing sent", "resolved sent"])
      assert.strictEqual(receivers.arrivals.length, 2)
    }),
  )

  it.effect("is attempted at once by another process that the storage hints to", () =>
    Effect.gen(function* () {
      const { site, receivers } = yield* openIdle(() => delivered, ["debug"], { hints: true })
      const other = yield* site.open("other", { delivers: false })
      yield* report(other, [{ check: "disk", status: "critical" }])
      yield* settled
      assert.deepStrictEqual(
        receivers.attempts.map(({ client }) => client),
        ["first"],
      )
    }),
  )

  it.effect("is attempted within fifteen seconds by another process that hears nothing of it", () =>
    Effect.gen(function* () {
      const { site, receivers } = yield* openIdle()
      const other = yield* site.open("other", { delivers: false })
      yield* report(other, [{ check: "disk", status: "critical" }])
      yield* settled
      assert.strictEqual(receivers.attempts.length, 0)
      yield* TestClock.adjust(Duration.seconds(15))
      assert.strictEqual(receivers.arrivals.length, 1)
    }),
  )

  it.effect("waits for no other notifier's receiver, be it dead", () =>
    Effect.gen(function* () {
      const { process, receivers } = yield* openIdle(
        (notifier) => (notifier === "webhook" ? hanging : delivered),
        ["webhook", "messenger"],
      )
      yield* report(process, checks(30))
      yield* settled
      assert.strictEqual(receivers.arrivals.length, 30)
      assert.isTrue(receivers.arrivals.every(({ notification }) => notification.notifier === "messenger"))
    }),
  )
})

describe("attempts at one notifier", () => {
  it.effect("are as many at once as is set, and one that ends makes room for another at that moment", () =>
    Effect.gen(function* () {
      let attempts = 0
      // The fourth answers after three seconds, all others hang.
      const answer = () => {
        attempts += 1
        return attempts === 4 ? { ...delivered, answeringMillis: 3_000 } : hanging
      }
      const { process, receivers } = yield* openIdle(answer, ["debug"], { concurrency: 8 })
      yield* report(process, checks(12))
      yield* settled
      assert.strictEqual(receivers.attempts.length, 8)
      yield* TestClock.adjust(2_999)
      assert.strictEqual(receivers.attempts.length, 8)
      yield* TestClock.adjust(1)
      assert.strictEqual(receivers.attempts.length, 9)
    }),
  )

  it.effect.prop(
    "that hang, fewer than 32 of them, hold up nothing else, wherever they stand in the queue",
    {
      hangs: Arbitrary.array(oneOf(true, false, false, false), { minLength: 1, maxLength: 120 }),
    },
    ({ hangs }) =>
      Effect.gen(function* () {
        // From the 32nd on they answer: so many may hang.
        const isHung = hangs.map(
          (isHanging, at) => isHanging && hangs.slice(0, at).filter(Boolean).length < 31,
        )
        let attempts = 0
        const { process, receivers } = yield* openIdle(() => (isHung[attempts++] ? hanging : delivered))
        yield* report(process, checks(hangs.length))
        yield* settled
        assert.strictEqual(receivers.attempts.length, hangs.length)
        assert.strictEqual(receivers.arrivals.length, isHung.filter((is) => !is).length)
      }),
    { arbitrary: { runs: propertyRuns(30), size: 120 } },
  )

  it.effect("go through a queue that is longer than that without a pause", () =>
    Effect.gen(function* () {
      const { site, process, receivers } = yield* openIdle()
      yield* report(process, checks(100))
      yield* settled
      assert.strictEqual(receivers.arrivals.length, 100)
      assert.isTrue(statesOf(site).every((state) => state === "firing sent"))
    }),
  )
})

describe("a retry", () => {
  it.effect("is made at the moment at which it is due", () =>
    Effect.gen(function* () {
      const { site, process, receivers } = yield* openIdle(() => deferred)
      yield* report(process, [{ check: "disk", status: "critical" }])
      yield* settled
      for (let attempt = 2; attempt <= 5; attempt++) {
        const [item] = site.watch.items.values()
        const due = item?.next_attempt_at ?? (yield* Instant.now)
        yield* TestClock.adjust(Duration.nanos((due - (yield* Instant.now)) * 1_000n))
        // The clock of the tests counts in milliseconds, of which it cannot keep every fraction.
        yield* TestClock.adjust(1)
        assert.strictEqual(receivers.attempts.length, attempt)
        assert.isBelow(Number((receivers.attempts.at(-1)?.startedAt ?? 0n) - due), 1_000)
        assert.isAtLeast(Number((receivers.attempts.at(-1)?.startedAt ?? 0n) - due), 0)
      }
    }),
  )

  it.effect("after a lease that ran out is made by another process", () =>
    Effect.gen(function* () {
      const { site, process, receivers } = yield* openIdle(() => timedOut)
      yield* report(process, [{ check: "disk", status: "critical" }])
      yield* settled
      receivers.cutOff("first")
      process.faults.isAway = true
      yield* site.open("other")
      yield* TestClock.adjust(Duration.seconds(59))
      assert.deepStrictEqual(statesOf(site), ["firing sending"])
      yield* TestClock.adjust(Duration.seconds(1))
      assert.deepStrictEqual(statesOf(site), ["firing retry"])
      yield* TestClock.adjust(Duration.seconds(6))
      assert.deepStrictEqual(
        receivers.attempts.map(({ client }) => client),
        ["first", "other"],
      )
    }),
  )
})
