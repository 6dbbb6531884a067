import * as Instant from "@tocsin/contract/formats/Instant"
import type { OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import {
  attempted,
  type AttemptResult,
  isSending,
  mayRetry,
  recordResults,
} from "@tocsin/core/heart/notifications/recordResults"
import { outboxRecord } from "@tocsin/testing/records"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { integer, oneOf, weighted } from "../properties/arbitraries.ts"
import { criticalChecks } from "../service/agents.ts"
import { deferred } from "../service/Receivers.ts"
import { openTimeline } from "../service/Timeline.ts"
import { claimItems } from "@tocsin/testing/claimItems"

/** Seconds before attempts 2…14 (docs/rules.md#delivery). */
const DELAYS = [5, 30, 120, 300, 900, 1_800, 3_600, 7_200, 14_400, 14_400, 14_400, 14_400, 14_400]
const DAY = 24 * 3_600
const HOUR = 3_600
const LEASE = Duration.seconds(60)

/** One item in the outbox, and no process that delivers it. */
const openWithItem = Effect.gen(function* () {
  const timeline = yield* openTimeline({ process: { delivers: false } })
  yield* timeline.disk.turns("critical")
  const { commits, operations } = timeline.process
  const claim = (random: number) =>
    claimItems(commits, { receivers: ["webhook"], limit: 5, lease: LEASE, random })
  return { ...timeline, operations, claim, transact: commits.transact, item: timeline.outbox.item }
})

const secondsUntilDue = ({ next_attempt_at, updated_at }: OutboxRecord): number =>
  next_attempt_at === undefined ? Number.NaN : Number(next_attempt_at - updated_at) / 1_000_000

/** Whether two numbers of seconds are the same to the microsecond. */
const isAbout = (a: number, b: number): boolean => Math.abs(a - b) < 2e-6

/** One attempt: how late it starts, how long it takes, and its result. */
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

describe("the delays before attempts", () => {
  it.effect.prop(
    "follow the schedule within a fifth, or Retry-After, up to 14 attempts and one day",
    { tries: Arbitrary.array(aTry, { minLength: 16, maxLength: 20 }), replays: integer(0, 2) },
    ({ tries, replays }) =>
      Effect.gen(function* () {
        const { operations, claim, transact, item } = yield* openWithItem
        let ageFrom = item().created_at
        let attempts = 0
        let replaysLeft = replays
        for (const { lateSeconds, takesSeconds, result, retryAfterSeconds, random } of tries) {
          if (item().state === "failed" && replaysLeft > 0) {
            replaysLeft -= 1
            assert.deepStrictEqual(yield* operations.replay(item().id), { count: 1 })
            ageFrom = item().updated_at
            attempts = 0
            assert.deepInclude(item(), {
              attempts: 0,
              state: "pending",
              age_starts_at: ageFrom,
              next_attempt_at: ageFrom,
            })
          }
          if (item().state === "failed") break
          yield* TestClock.adjust(Duration.seconds(Math.max(0, secondsUntilDue(item())) + lateSeconds))
          yield* TestClock.adjust(1)
          const [claimed] = yield* claim(random)
          attempts += 1
          assert.deepInclude(item(), { state: "sending", attempts })
          if (claimed === undefined) return assert.fail("a due item was not claimed")
          assert.strictEqual(claimed.notification.attempt, attempts)
          if (result === "expired") {
            yield* TestClock.adjust(LEASE)
            yield* claim(random)
          } else {
            yield* TestClock.adjust(Duration.seconds(takesSeconds))
            const outcome: AttemptResult =
              result === "released"
                ? { outcome: result }
                : { outcome: result, error: "503", retryAfterSeconds }
            const settled = yield* transact(
              recordResults([{ claim: claimed.claim, result: outcome, random }]),
            )
            assert.deepStrictEqual(settled, [item().state === "failed" ? "given_up" : "stored"])
          }
          const recordedItem = item()
          const age = Number(recordedItem.updated_at - ageFrom) / 1_000_000
          const mayRetry = attempts < 14 && age < DAY
          assert.strictEqual(recordedItem.state, mayRetry ? "retry" : "failed")
          assert.strictEqual(recordedItem.leased_until, undefined)
          if (!mayRetry) continue
          const scheduled = (DELAYS[attempts - 1] ?? 0) * (0.8 + 0.4 * random)
          const asked = result === "deferred" ? Math.min(retryAfterSeconds ?? 0, HOUR) : 0
          const expected = result === "released" ? 0 : Math.max(scheduled, asked)
          assert.isTrue(
            isAbout(secondsUntilDue(recordedItem), expected),
            `${secondsUntilDue(recordedItem)} s after attempt ${attempts}, not ${expected} s`,
          )
        }
      }),
    { arbitrary: { runs: propertyRuns(150), size: 20, maxShrinks: 500 } },
  )

  it("end a day after an item was enqueued, to the microsecond", () => {
    const age_starts_at = Instant.fromMillis(0)
    const mayRetryAt = (now: Instant.Instant) => mayRetry({ attempts: 1, age_starts_at }, now)
    const end = Instant.plus(age_starts_at, Duration.seconds(DAY))
    assert.deepStrictEqual([Instant.fromMicros(end - 1n), end].map(mayRetryAt), [true, false])
  })

  it("count the time in retry as of now where the clock was set back during the attempt", () => {
    const at = (seconds: number) => Instant.fromMillis(seconds * 1_000)
    const first = { attempts: 1, age_starts_at: at(0), first_attempted_at: at(1_800), updated_at: at(1_800) }
    const item = outboxRecord("item", "incident", { state: "sending", ...first })
    assert(isSending(item))
    const firstOf = (result: AttemptResult, now: number) =>
      attempted(item, result, at(now), 0).first_attempted_at
    const lost: AttemptResult = { outcome: "deferred", error: "503" }
    assert.deepStrictEqual([firstOf(lost, 10), firstOf(lost, 1_815)], [at(10), at(1_800)])
  })

  it("leave an item its place that was claimed and not attempted", () => {
    const at = (seconds: number) => Instant.fromMillis(seconds * 1_000)
    const placeOf = (attempts: number) => {
      const times = { age_starts_at: at(0), updated_at: at(60) }
      const item = outboxRecord("item", "incident", { state: "sending", attempts, ...times })
      assert(isSending(item))
      return attempted(item, { outcome: "unsent" }, at(90), 0).next_attempt_at
    }
    assert.deepStrictEqual([1, 2].map(placeOf), [at(0), at(60)])
  })

  it.effect("vary at random around the schedule", () =>
    Effect.gen(function* () {
      const { agent, webhook, outbox } = yield* openTimeline()
      yield* webhook.answers(deferred)
      yield* agent().reports(...criticalChecks(40))
      const delays = outbox.items().map(secondsUntilDue)
      assert.isTrue(delays.every((delay) => delay >= 4 - 1e-6 && delay <= 6))
      assert.isTrue(delays.some((delay) => delay < 4.7) && delays.some((delay) => delay > 5.3))
    }),
  )
})

describe("an item whose receiver is down", () => {
  it.effect("is tried 14 times within about a day, and ends as a dead letter", () =>
    Effect.gen(function* () {
      const { service, disk, webhook, outbox, after } = yield* openTimeline()
      yield* webhook.answers(deferred)
      yield* disk.turns("critical")
      for (let hours = 0; hours < 30; hours++) yield* after("1 hour")
      const item = outbox.item()
      assert.deepInclude(item, { state: "failed", last_error: "the receiver answered 503" })
      const attempts = service.receivers.attempts.length
      assert.isTrue(
        attempts === 14 || (attempts === 13 && item.updated_at - item.created_at >= 86_400_000_000n),
      )
      yield* after("5 hours")
      assert.strictEqual(service.receivers.attempts.length, attempts)
    }),
  )
})

describe("an attempt whose lease has run out", () => {
  it.effect("settles nothing once another attempt holds the item", () =>
    Effect.gen(function* () {
      const { after, claim, transact, item } = yield* openWithItem
      const [first] = yield* claim(0)
      yield* after(LEASE)
      yield* claim(0)
      yield* after("6 seconds")
      const [second] = yield* claim(0)
      if (first === undefined || second === undefined) return assert.fail("nothing was claimed")
      const settle = (claimed: typeof first) =>
        transact(
          recordResults([{ claim: claimed.claim, result: { outcome: "refused", error: "400" }, random: 0 }]),
        )
      assert.deepStrictEqual(yield* settle(first), ["lost"])
      assert.deepInclude(item(), { state: "sending", attempts: 2 })
      assert.deepStrictEqual(yield* settle(second), ["given_up"])
      assert.deepStrictEqual(yield* settle(second), ["lost"])
      assert.strictEqual(item().state, "failed")
    }),
  )

  it.effect("still settles the item while no process has reclaimed it", () =>
    Effect.gen(function* () {
      const { after, claim, transact, item } = yield* openWithItem
      const [claimed] = yield* claim(0)
      if (claimed === undefined) return assert.fail("nothing was claimed")
      yield* after("90 seconds")
      yield* transact(recordResults([{ claim: claimed.claim, result: { outcome: "delivered" }, random: 0 }]))
      assert.strictEqual(item().state, "sent")
    }),
  )
})
