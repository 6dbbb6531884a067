import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { defaultDelivery } from "@tocsin/core/heart/usecases/Delivery"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { criticalChecks, report } from "../service/agents.ts"
import { type Answer, delivered, hanging, timedOut } from "../service/Receivers.ts"
import { type Process, whileTimePasses } from "../service/Service.ts"
import { settled } from "../service/settled.ts"
import { openTimeline } from "../service/Timeline.ts"

const NOTIFIERS: ReadonlyArray<NotifierName> = ["debug", "messenger", "webhook", "alert_router"]

/** A process with an attempt that is answered as given; other processes deliver immediately. */
const openBusy = Effect.fnUntraced(function* (
  answer: Answer,
  notifiers: ReadonlyArray<NotifierName> = ["webhook"],
) {
  const timeline = yield* openTimeline({ notifiers, hints: true })
  const { receivers } = timeline.service
  receivers.answerWith(answer, { client: "first" })
  yield* timeline.disk.turns("critical")
  return { ...timeline, receivers }
})

/** Closes a process while time passes. Returns how many seconds that took. */
const secondsToClose = Effect.fnUntraced(function* ({ close }: Process) {
  const start = yield* Instant.now
  yield* whileTimePasses(close)
  return Number((yield* Instant.now) - start) / 1_000_000
})

describe("a process that shuts down", () => {
  it.effect("stops immediately when no attempt is running", () =>
    Effect.gen(function* () {
      const { process, outbox } = yield* openBusy(delivered)
      assert.strictEqual(yield* secondsToClose(process), 0)
      yield* outbox.is("firing sent")
    }),
  )

  it.effect("finishes running attempts", () =>
    Effect.gen(function* () {
      const { process, outbox } = yield* openBusy({ ...delivered, answeringMillis: 2_500 })
      assert.isAtMost(yield* secondsToClose(process), 3)
      yield* outbox.is("firing sent")
    }),
  )

  it.effect("releases attempts that take too long, and another process retries immediately", () =>
    Effect.gen(function* () {
      const { service, process, outbox, receivers } = yield* openBusy(timedOut)
      yield* service.open("second")
      const start = yield* Instant.now
      yield* whileTimePasses(process.close)
      yield* settled
      yield* outbox.is("firing sent")
      const last = receivers.attempts.at(-1)
      assert.deepInclude(last, { client: "second" })
      assert.strictEqual(last?.notification.attempt, 2)
      assert.isAtMost(Number((last?.startedAt ?? start) - start) / 1_000_000, 4)
    }),
  )

  it.effect("takes no longer for several hanging receivers than for one, and keeps no lease", () =>
    Effect.gen(function* () {
      const { process, agent, outbox } = yield* openBusy(hanging, NOTIFIERS)
      yield* agent().reports(...criticalChecks(40))
      assert.strictEqual(
        outbox.items().filter((item) => item.state === "sending").length,
        defaultDelivery.concurrency * NOTIFIERS.length,
      )
      assert.isAtMost(yield* secondsToClose(process), 5)
      const now = yield* Instant.now
      for (const { state, next_attempt_at } of outbox.items()) {
        assert.include(["pending", "retry"], state)
        assert.isTrue(next_attempt_at !== undefined && next_attempt_at <= now)
      }
    }),
  )

  it.effect("claims nothing more while it waits", () =>
    Effect.gen(function* () {
      const { process, after, receivers } = yield* openBusy(hanging, NOTIFIERS)
      const closing = yield* Effect.forkChild(process.close)
      yield* settled
      yield* report(process, [{ check: "load", status: "critical" }])
      yield* after("10 seconds")
      yield* Fiber.join(closing)
      assert.strictEqual(receivers.attempts.length, NOTIFIERS.length)
    }),
  )

  it.effect.each([0, 1, 500, 999])("attempts the items of a running claim, %i ms into it", (millis) =>
    Effect.gen(function* () {
      const { process, disk, outbox, after } = yield* openTimeline({ separateFront: true })
      yield* disk.turns("critical")
      process.faults.latencies = [1_000]
      // The regular poll of the outbox starts the claim.
      yield* after("15 seconds")
      yield* after(millis)
      yield* outbox.is("firing pending")
      assert.isAtMost(yield* secondsToClose(process), 5)
      yield* outbox.is("firing sent")
    }),
  )

  it.effect("does not wait for an unreachable storage", () =>
    Effect.gen(function* () {
      const { process } = yield* openBusy({ ...delivered, answeringMillis: 1_000 })
      process.faults.isUnreachable = true
      assert.isAtMost(yield* secondsToClose(process), 6)
    }),
  )

  it.effect("counts the attempt that it released", () =>
    Effect.gen(function* () {
      const { process, outbox } = yield* openBusy(hanging)
      yield* whileTimePasses(process.close)
      assert.deepInclude(outbox.item(), {
        state: "retry",
        attempts: 1,
        last_error: "the service stopped during the attempt",
      })
    }),
  )
})
