import * as Instant from "@tocsin/contract/formats/Instant"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Duration, Effect } from "effect"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { oneOf } from "../properties/arbitraries.ts"
import { criticalChecks } from "../service/agents.ts"
import { deferred, delivered, hanging, timedOut } from "../service/Receivers.ts"
import { openTimeline, type TimelineOptions } from "../service/Timeline.ts"

/** A service that was idle for a minute, so that its first poll of the outbox is over. */
const openIdle = Effect.fnUntraced(function* (options: TimelineOptions = {}) {
  const timeline = yield* openTimeline(options)
  yield* timeline.after("1 minute")
  return { ...timeline, receivers: timeline.service.receivers }
})

describe("a new item", () => {
  it.effect("is attempted immediately by an idle service", () =>
    Effect.gen(function* () {
      const { disk, webhook, outbox } = yield* openIdle()
      yield* disk.turns("critical")
      yield* outbox.is("firing sent")
      yield* disk.turns("ok")
      yield* outbox.is("firing sent", "resolved sent")
      yield* webhook.has("firing critical a/disk", "resolved critical a/disk")
    }),
  )

  it.effect("is attempted immediately by another process that gets a hint from the storage", () =>
    Effect.gen(function* () {
      const { disk, receivers } = yield* openIdle({ hints: true, separateFront: true })
      yield* disk.turns("critical")
      assert.deepStrictEqual(
        receivers.attempts.map(({ client }) => client),
        ["first"],
      )
    }),
  )

  it.effect("is attempted within 15 seconds by another process that gets no hint", () =>
    Effect.gen(function* () {
      const { disk, webhook, after } = yield* openIdle({ separateFront: true })
      yield* disk.turns("critical")
      yield* webhook.has()
      yield* after("15 seconds")
      yield* webhook.has("firing critical a/disk")
    }),
  )

  it.effect("says since when it is due, by which its delay is measured", () =>
    Effect.gen(function* () {
      const { disk, after, receivers, webhook } = yield* openIdle({ separateFront: true })
      yield* webhook.answers(deferred)
      const began = yield* Instant.now
      yield* disk.turns("critical")
      yield* after("1 minute")
      const [first, second] = receivers.attempts
      assert.strictEqual(first?.notification.due_at, began)
      assert.isAbove(Number((first?.startedAt ?? began) - began), 0)
      // Of a retry, since the end of its pause.
      assert.isAbove(Number((second?.notification.due_at ?? began) - (first?.startedAt ?? began)), 4_000_000)
    }),
  )

  it.effect("does not wait for another notifier whose receiver hangs", () =>
    Effect.gen(function* () {
      const { agent, webhook, receivers } = yield* openIdle({ notifiers: ["webhook", "messenger"] })
      yield* webhook.answers(hanging)
      yield* agent().reports(...criticalChecks(30))
      assert.strictEqual(receivers.arrivals.length, 30)
      assert.isTrue(receivers.arrivals.every(({ notification }) => notification.notifier === "messenger"))
    }),
  )
})

describe("attempts of one notifier", () => {
  it.effect("run up to the concurrency limit; each one that ends makes room for another", () =>
    Effect.gen(function* () {
      let attempts = 0
      // The fourth answers after three seconds, all others hang.
      const answerTo = () => {
        attempts += 1
        return attempts === 4 ? { ...delivered, answeringMillis: 3_000 } : hanging
      }
      const { agent, after, receivers } = yield* openIdle({ answerTo, process: { concurrency: 8 } })
      yield* agent().reports(...criticalChecks(12))
      assert.strictEqual(receivers.attempts.length, 8)
      yield* after(2_999)
      assert.strictEqual(receivers.attempts.length, 8)
      yield* after(1)
      assert.strictEqual(receivers.attempts.length, 9)
    }),
  )

  it.effect.prop(
    "do not delay others when fewer than 32 hang, wherever they are in the queue",
    {
      hangs: Arbitrary.array(oneOf(true, false, false, false), { minLength: 1, maxLength: 120 }),
    },
    ({ hangs }) =>
      Effect.gen(function* () {
        // At most 31 hang; the others answer.
        const isHung = hangs.map(
          (isHanging, at) => isHanging && hangs.slice(0, at).filter(Boolean).length < 31,
        )
        let attempts = 0
        const answerTo = () => (isHung[attempts++] ? hanging : delivered)
        const { agent, receivers } = yield* openIdle({ answerTo })
        yield* agent().reports(...criticalChecks(hangs.length))
        assert.strictEqual(receivers.attempts.length, hangs.length)
        assert.strictEqual(receivers.arrivals.length, isHung.filter((is) => !is).length)
      }),
    { arbitrary: { runs: propertyRuns(30), size: 120 } },
  )

  it.effect("work through a longer queue without a pause", () =>
    Effect.gen(function* () {
      const { agent, outbox, receivers } = yield* openIdle()
      yield* agent().reports(...criticalChecks(100))
      assert.strictEqual(receivers.arrivals.length, 100)
      assert.isTrue(outbox.items().every(({ state }) => state === "sent"))
    }),
  )
})

describe("a retry", () => {
  it.effect("starts when it is due", () =>
    Effect.gen(function* () {
      const { disk, webhook, after, outbox, receivers } = yield* openIdle()
      yield* webhook.answers(deferred)
      yield* disk.turns("critical")
      for (let attempt = 2; attempt <= 5; attempt++) {
        const due = outbox.item().next_attempt_at ?? (yield* Instant.now)
        yield* after(Duration.nanos((due - (yield* Instant.now)) * 1_000n))
        // The clock of the tests counts milliseconds and drops the fractions.
        yield* after(1)
        assert.strictEqual(receivers.attempts.length, attempt)
        const late = Number((receivers.attempts.at(-1)?.startedAt ?? 0n) - due)
        assert.isBelow(late, 1_000)
        assert.isAtLeast(late, 0)
      }
    }),
  )

  it.effect("starts soon when it falls due while a claim is answered, and not at the next poll", () =>
    Effect.gen(function* () {
      let answersAfter = 0
      const { disk, webhook, after, outbox, process, receivers } = yield* openIdle({
        clientOf: (storage) => ({
          ...storage,
          transact: (command) =>
            Effect.tap(storage.transact(command), () =>
              answersAfter === 0 ? Effect.void : Effect.sleep(answersAfter),
            ),
        }),
      })
      yield* webhook.answers(deferred)
      yield* disk.turns("critical")
      const due = outbox.item().next_attempt_at ?? (yield* Instant.now)
      yield* after(Duration.nanos((due - (yield* Instant.now)) * 1_000n - 250_000_000n))
      answersAfter = 500
      yield* process.signal.raise
      yield* after("1 second")
      assert.strictEqual(receivers.attempts.length, 2)
    }),
  )

  it.effect("after an expired lease is made by another process", () =>
    Effect.gen(function* () {
      const { service, process, disk, webhook, after, outbox, receivers } = yield* openIdle()
      yield* webhook.answers(timedOut)
      yield* disk.turns("critical")
      receivers.cutOff("first")
      process.faults.isUnreachable = true
      yield* service.open("second")
      yield* after("59 seconds")
      yield* outbox.is("firing sending")
      yield* after("1 second")
      yield* outbox.is("firing retry")
      yield* after("6 seconds")
      assert.deepStrictEqual(
        receivers.attempts.map(({ client }) => client),
        ["first", "second"],
      )
    }),
  )
})
