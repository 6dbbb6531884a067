import * as Instant from "@tocsin/core/contract/Instant"
import type { NotifierName } from "@tocsin/core/contract/Status"
import { defaultDelivery } from "@tocsin/core/usecases/Delivery"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { type Answer, delivered, hanging, makeReceivers, timedOut } from "./Receivers.ts"
import { AGENT, enroll, report } from "./reports.ts"
import { openSite, type Process, whileTimePasses } from "./Site.ts"
import { itemsOf, statesOf } from "./outboxOf.ts"
import { settled } from "./settled.ts"

const NOTIFIERS: ReadonlyArray<NotifierName> = ["debug", "messenger", "webhook", "alert_router"]

const openBusy = Effect.fnUntraced(function* (
  answer: Answer,
  notifiers: ReadonlyArray<NotifierName> = ["webhook"],
) {
  const answers = { first: answer, second: delivered }
  const receivers = makeReceivers({
    answerTo: (_, client) => (client === "first" ? answers.first : answers.second),
  })
  const site = yield* openSite({ receivers, notifiers, hints: true })
  const process = yield* site.open("first")
  yield* enroll(process, AGENT)
  yield* report(process, [{ check: "disk", status: "critical" }])
  yield* settled
  return { site, process, receivers, answers }
})

/** Closes a process while the clock goes on; tells how many seconds that took. */
const timeToClose = Effect.fnUntraced(function* ({ close }: Process) {
  const start = yield* Instant.now
  yield* whileTimePasses(close)
  return Number((yield* Instant.now) - start) / 1_000_000
})

describe("a process that stops", () => {
  it.effect("does so at once when nothing is under way", () =>
    Effect.gen(function* () {
      const { site, process } = yield* openBusy(delivered)
      assert.strictEqual(yield* timeToClose(process), 0)
      assert.deepStrictEqual(statesOf(site), ["firing sent"])
    }),
  )

  it.effect("lets attempts under way end", () =>
    Effect.gen(function* () {
      const { site, process } = yield* openBusy({ ...delivered, answeringMillis: 2_500 })
      assert.isAtMost(yield* timeToClose(process), 3)
      assert.deepStrictEqual(statesOf(site), ["firing sent"])
    }),
  )

  it.effect("gives back those that take too long, and another process tries at once", () =>
    Effect.gen(function* () {
      const { site, process, receivers } = yield* openBusy(timedOut)
      yield* site.open("second")
      const start = yield* Instant.now
      yield* whileTimePasses(process.close)
      yield* settled
      assert.deepStrictEqual(statesOf(site), ["firing sent"])
      const last = receivers.attempts.at(-1)
      assert.deepInclude(last, { client: "second" })
      assert.strictEqual(last?.notification.attempt, 2)
      assert.isAtMost(Number((last?.startedAt ?? start) - start) / 1_000_000, 4)
    }),
  )

  it.effect("needs no longer for several dead receivers than for one, and leaves nothing to its lease", () =>
    Effect.gen(function* () {
      const { site, process } = yield* openBusy(hanging, NOTIFIERS)
      const checks = Array.from({ length: 40 }, (_, at) => ({
        check: `check-${at}`,
        status: "critical" as const,
      }))
      yield* report(process, checks)
      yield* settled
      assert.strictEqual(
        itemsOf(site).filter((item) => item.state === "sending").length,
        defaultDelivery.concurrency * NOTIFIERS.length,
      )
      assert.isAtMost(yield* timeToClose(process), 5)
      assert.isTrue(itemsOf(site).every((item) => item.state === "pending" || item.state === "retry"))
      const now = yield* Instant.now
      assert.isTrue(
        itemsOf(site).every((item) => item.next_attempt_at !== undefined && item.next_attempt_at <= now),
      )
    }),
  )

  it.effect("claims nothing new while it waits", () =>
    Effect.gen(function* () {
      const { process, receivers } = yield* openBusy(hanging, NOTIFIERS)
      const front = process
      const closing = yield* Effect.forkChild(process.close)
      yield* settled
      yield* report(front, [{ check: "load", status: "critical" }])
      yield* TestClock.adjust(Duration.seconds(10))
      yield* Fiber.join(closing)
      assert.strictEqual(receivers.attempts.length, NOTIFIERS.length)
    }),
  )

  it.effect.each([0, 1, 500, 999])(
    "makes what it claims meanwhile, %i ms into the claim",
    (millisIntoClaim) =>
      Effect.gen(function* () {
        const receivers = makeReceivers({ answerTo: () => delivered })
        const site = yield* openSite({ receivers, notifiers: ["webhook"] })
        const process = yield* site.open("first")
        const front = yield* site.open("front", { delivers: false })
        yield* enroll(front, AGENT)
        yield* settled
        yield* report(front, [{ check: "disk", status: "critical" }])
        process.faults.latencies = [1_000]
        // The look that comes without a reason starts the claim.
        yield* TestClock.adjust(Duration.seconds(15))
        yield* TestClock.adjust(millisIntoClaim)
        assert.deepStrictEqual(statesOf(site), ["firing pending"])
        assert.isAtMost(yield* timeToClose(process), 5)
        assert.deepStrictEqual(statesOf(site), ["firing sent"])
      }),
  )

  it.effect("does not wait for a storage that is away", () =>
    Effect.gen(function* () {
      const { process } = yield* openBusy({ ...delivered, answeringMillis: 1_000 })
      process.faults.isAway = true
      assert.isAtMost(yield* timeToClose(process), 6)
    }),
  )

  it.effect("counts the attempt that it gave back", () =>
    Effect.gen(function* () {
      const { site, process } = yield* openBusy(hanging)
      yield* whileTimePasses(process.close)
      assert.deepInclude(itemsOf(site)[0], {
        state: "retry",
        attempts: 1,
        last_error: "the service stopped during the attempt",
      })
    }),
  )
})
