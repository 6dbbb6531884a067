import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Instruments, type InstrumentsOf } from "../../../../src/kernel/engine/metrics/Instruments.ts"
import { measuredNotifier } from "../../../../src/heart/notifications/Receivers.ts"
import type { DeliveryAttempt, DeliveryResult, Notifier } from "@tocsin/core/heart/notifications/Notifiers"
import { deliveryMetrics } from "../../../../src/heart/notifications/deliveryMetrics.ts"

const START = 1_700_000_000_000

/** A notification that was due half a second before the test begins; the rest of it is of no interest here. */
const notification = { due_at: Instant.fromMillis(START - 500) } as unknown as DeliveryAttempt

const delivered: DeliveryResult = { outcome: "delivered" }

const open = Effect.fnUntraced(function* (changes: Partial<Notifier>) {
  const instruments = new Instruments().of(deliveryMetrics)
  const notifier: Notifier = {
    kind: "webhook",
    send: () => Effect.succeed(delivered),
    test: Effect.die("not called"),
    ...changes,
  }
  const measured = measuredNotifier(notifier, instruments)
  yield* TestClock.setTime(START)
  return { measured, instruments }
})

const countOf = (instruments: InstrumentsOf<typeof deliveryMetrics>, outcome: string): number =>
  instruments.attempts.of("webhook", outcome).value

describe("measured notifiers", () => {
  it.effect("measure an attempt, and the receiver's wait since it was due", () =>
    Effect.gen(function* () {
      const { measured, instruments } = yield* open({
        send: () => Effect.delay(Effect.succeed(delivered), "250 millis"),
      })
      const sending = yield* Effect.forkChild(measured.send(notification))
      yield* TestClock.adjust("250 millis")
      assert.deepStrictEqual(yield* Fiber.join(sending), delivered)
      assert.strictEqual(countOf(instruments, "delivered"), 1)
      assert.strictEqual(instruments.attemptDuration.of("webhook").read().sum, 0.25)
      assert.strictEqual(instruments.deliveryDelay.of("webhook").read().sum, 0.75)
    }),
  )

  it.effect("count deferred and refused attempts, without their delay", () =>
    Effect.gen(function* () {
      for (const outcome of ["deferred", "refused"] as const) {
        const { measured, instruments } = yield* open({
          send: () => Effect.succeed({ outcome, error: "no" }),
        })
        assert.deepStrictEqual(yield* measured.send(notification), { outcome, error: "no" })
        assert.strictEqual(countOf(instruments, outcome), 1)
        assert.deepStrictEqual(new Set(instruments.deliveryDelay.of("webhook").read().counts), new Set([0]))
      }
    }),
  )

  it.effect("tell a mistake of the notifier's from an attempt that is given back, and pass both on", () =>
    Effect.gen(function* () {
      const { measured, instruments } = yield* open({ send: () => Effect.die("a mistake") })
      assert.isTrue(Exit.hasDies(yield* Effect.exit(measured.send(notification))))
      assert.strictEqual(countOf(instruments, "threw"), 1)

      const hanging = yield* open({ send: () => Effect.never })
      const sending = yield* Effect.forkChild(hanging.measured.send(notification), { startImmediately: true })
      yield* Fiber.interrupt(sending)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(sending)))
      assert.strictEqual(countOf(hanging.instruments, "released"), 1)
    }),
  )

  it.effect("count alerts that are sent again, where a notifier does that at all", () =>
    Effect.gen(function* () {
      assert.isUndefined((yield* open({})).measured.resend)
      const { measured, instruments } = yield* open({
        resend: () => Effect.succeed({ outcome: "deferred", error: "later" }),
      })
      yield* measured.resend?.([]) ?? Effect.die("resend is gone")
      assert.strictEqual(instruments.resends.of("deferred").value, 1)
    }),
  )
})
