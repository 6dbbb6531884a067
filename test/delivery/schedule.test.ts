import type { OutboxRecord } from "@tocsin/core/notifications/OutboxRecord"
import { claimOutbox } from "@tocsin/core/notifications/claimOutbox"
import { type AttemptResult, settleAttempt } from "@tocsin/core/notifications/settleAttempt"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { integer, oneOf, weighted } from "../rules/arbitraries.ts"
import { deferred, makeReceivers } from "./Receivers.ts"
import { AGENT, enroll, report } from "./reports.ts"
import { openSite } from "./Site.ts"
import { itemsOf } from "./outboxOf.ts"
import { settled } from "./settled.ts"

/** Seconds before attempts 2…14 (docs/rules.md#delivery). */
const DELAYS = [5, 30, 120, 300, 900, 1_800, 3_600, 7_200, 14_400, 14_400, 14_400, 14_400, 14_400]
const DAY = 24 * 3_600
const HOUR = 3_600

const never = makeReceivers({ answerTo: () => deferred })

/** A site with one item, and no process that delivers it. */
const openWithItem = Effect.gen(function* () {
  const site = yield* openSite({ receivers: never })
  const process = yield* site.open("front", { delivers: false })
  yield* enroll(process, AGENT)
  yield* report(process, [{ check: "disk", status: "critical" }])
  const item = (): OutboxRecord => itemsOf(site)[0] ?? assert.fail("there is no item")
  return { site, process, item }
})

const secondsUntilDue = ({ next_attempt_at, updated_at }: OutboxRecord): number =>
  next_attempt_at === undefined ? Number.NaN : Number(next_attempt_at - updated_at) / 1_000_000

/** Whether two numbers of seconds are the same to the microsecond. */
const isAbout = (a: number, b: number): boolean => Math.abs(a - b) < 2e-6

/** One attempt: how long the worker is late, how long it takes, what comes of it. */
interface Try {
  readonly lateSeconds: number
  readonly takesSeconds: number
  readonly result: "deferred" | "expired" | "released"
  readonly retryAfterSeconds: number | undefined
  readonly random: number
}

const aTry: Arbitrary.Arbitrary<Try> = Arbitrary.all({
  lateSeconds: weighted<number>([6, oneOf(0, 1)], [1, oneOf(600, 20_000, DAY)]),
  takesSeconds: oneOf(0, 1, 15, 59),
  result: oneOf("deferred", "deferred", "deferred", "expired", "released"),
  retryAfterSeconds: weighted<number | undefined>(
    [2, Arbitrary.Constant(undefined)],
    [2, oneOf(0, 1, 29, 31, HOUR - 1, HOUR, HOUR + 1, 1_000_000)],
  ),
  random: Arbitrary.map(oneOf(0, 1, 250, 500, 999), (thousandths) => thousandths / 1_000),
})

const LEASE = Duration.seconds(60)

describe("the delays before attempts", () => {
  it.effect.prop(
    "follow the schedule, give or take a fifth, or Retry-After; fourteen attempts and a day are the bounds",
    { tries: Arbitrary.array(aTry, { minLength: 16, maxLength: 20 }), replays: integer(0, 2) },
    ({ tries, replays }) =>
      Effect.gen(function* () {
        const { process, item } = yield* openWithItem
        let ageFrom = item().created_at
        let attempts = 0
        let replaysLeft = replays
        for (const { lateSeconds, takesSeconds, result, retryAfterSeconds, random } of tries) {
          if (item().state === "failed" && replaysLeft > 0) {
            replaysLeft -= 1
            assert.deepStrictEqual(yield* process.operations.replay(item().id), { count: 1 })
            ageFrom = item().updated_at
            attempts = 0
            assert.deepInclude(item(), {
              attempts: 0,
              state: "pending",
              counts_from: ageFrom,
              next_attempt_at: ageFrom,
            })
          }
          if (item().state === "failed") break
          yield* TestClock.adjust(Duration.seconds(Math.max(0, secondsUntilDue(item())) + lateSeconds))
          yield* TestClock.adjust(1)
          const claim = claimOutbox({ notifiers: ["debug"], limit: 5, lease: LEASE, random })
          const [claimed] = yield* process.storage.transact(claim)
          attempts += 1
          assert.deepInclude(item(), { state: "sending", attempts })
          if (claimed === undefined) return assert.fail("what is due was not claimed")
          assert.strictEqual(claimed.notification.attempt, attempts)
          if (result === "expired") {
            yield* TestClock.adjust(LEASE)
            yield* process.storage.transact(claim)
          } else {
            yield* TestClock.adjust(Duration.seconds(takesSeconds))
            const outcome: AttemptResult =
              result === "released"
                ? { outcome: result }
                : { outcome: result, error: "503", retryAfterSeconds }
            const settlement = yield* process.storage.transact(settleAttempt(claimed.claim, outcome, random))
            assert.strictEqual(settlement, item().state === "failed" ? "given_up" : "settled")
          }
          const after = item()
          const age = Number(after.updated_at - ageFrom) / 1_000_000
          const mayRetry = attempts < 14 && age < DAY
          assert.strictEqual(after.state, mayRetry ? "retry" : "failed")
          assert.strictEqual(after.leased_until, undefined)
          if (!mayRetry) continue
          const scheduled = (DELAYS[attempts - 1] ?? 0) * (0.8 + 0.4 * random)
          const asked = result === "deferred" ? Math.min(retryAfterSeconds ?? 0, HOUR) : 0
          const expected = result === "released" ? 0 : Math.max(scheduled, asked)
          assert.isTrue(
            isAbout(secondsUntilDue(after), expected),
            `${secondsUntilDue(after)} s after attempt ${attempts}, not ${expected} s`,
          )
        }
      }),
    { arbitrary: { runs: propertyRuns(150), size: 20, maxShrinks: 500 } },
  )

  it.effect("come from chance: of many, some are shorter and some are longer than the schedule", () =>
    Effect.gen(function* () {
      const site = yield* openSite({ receivers: never })
      const process = yield* site.open("first")
      yield* enroll(process, AGENT)
      const checks = Array.from({ length: 40 }, (_, at) => ({
        check: `check-${at}`,
        status: "critical" as const,
      }))
      yield* report(process, checks)
      yield* settled
      const delays = itemsOf(site).map(secondsUntilDue)
      assert.isTrue(delays.every((delay) => delay >= 4 - 1e-6 && delay <= 6))
      assert.isTrue(delays.some((delay) => delay < 4.7) && delays.some((delay) => delay > 5.3))
    }),
  )
})

describe("a dead receiver", () => {
  it.effect("is tried fourteen times within about a day, and the item ends as a dead letter", () =>
    Effect.gen(function* () {
      const receivers = makeReceivers({ answerTo: () => deferred })
      const site = yield* openSite({ receivers })
      const process = yield* site.open("first")
      yield* enroll(process, AGENT)
      yield* report(process, [{ check: "disk", status: "critical" }])
      for (let hours = 0; hours < 30; hours++) yield* TestClock.adjust(Duration.hours(1))
      const [item] = itemsOf(site)
      assert.deepInclude(item, { state: "failed", last_error: "the receiver answered 503" })
      const attempts = receivers.attempts.length
      assert.isTrue(
        attempts === 14 ||
          (attempts === 13 && (item?.updated_at ?? 0n) - (item?.created_at ?? 0n) >= 86_400_000_000n),
      )
      // A dead letter stays one.
      yield* TestClock.adjust(Duration.hours(5))
      assert.strictEqual(receivers.attempts.length, attempts)
    }),
  )
})

describe("a claim that was lost", () => {
  it.effect("cannot settle what another one holds by now", () =>
    Effect.gen(function* () {
      const { process, item } = yield* openWithItem
      const claim = claimOutbox({ notifiers: ["debug"], limit: 5, lease: LEASE, random: 0 })
      const [first] = yield* process.storage.transact(claim)
      yield* TestClock.adjust(LEASE)
      yield* process.storage.transact(claim)
      yield* TestClock.adjust(Duration.seconds(6))
      const [second] = yield* process.storage.transact(claim)
      if (first === undefined || second === undefined) return assert.fail("nothing was claimed")
      const settle = (claimed: typeof first) =>
        process.storage.transact(settleAttempt(claimed.claim, { outcome: "refused", error: "400" }, 0))
      assert.strictEqual(yield* settle(first), "lost")
      assert.deepInclude(item(), { state: "sending", attempts: 2 })
      assert.strictEqual(yield* settle(second), "given_up")
      assert.strictEqual(yield* settle(second), "lost")
      assert.strictEqual(item().state, "failed")
    }),
  )

  it.effect("still settles after its lease has run out, as long as nobody took the item back", () =>
    Effect.gen(function* () {
      const { process, item } = yield* openWithItem
      const [claimed] = yield* process.storage.transact(
        claimOutbox({ notifiers: ["debug"], limit: 5, lease: LEASE, random: 0 }),
      )
      if (claimed === undefined) return assert.fail("nothing was claimed")
      yield* TestClock.adjust(Duration.seconds(90))
      yield* process.storage.transact(settleAttempt(claimed.claim, { outcome: "delivered" }, 0))
      assert.strictEqual(item().state, "sent")
    }),
  )
})
