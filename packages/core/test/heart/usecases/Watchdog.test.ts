import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Exit, Layer, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"
import {
  type TestReceipt,
  type WatchdogPing,
  WatchdogReceiver,
} from "@tocsin/core/heart/notifications/Notifiers"
import { type Health, HealthExamination } from "../../../src/heart/health/HealthExamination.ts"
import * as Watchdog from "../../../src/heart/usecases/Watchdog.ts"
import { testsFrom } from "@tocsin/testing/testsFrom"

const taken: TestReceipt = { status: 200, result: { outcome: "delivered" } }
const refused: TestReceipt = {
  status: 404,
  result: { outcome: "deferred", error: "The receiver answered 404." },
}
const late: Health = {
  state: "unwell",
  faults: [
    { name: "storage_keeps", text: "the storage refuses writes (full)" },
    { name: "delivery_in_time", text: "webhook has not delivered a notification for 16 minutes" },
  ],
}

/** Watchdog every minute, of a service and to a receiver that a test steers. */
const beating = Effect.gen(function* () {
  const control = {
    health: { state: "well" } as Health,
    isStopping: false,
    receipt: Effect.succeed(taken),
    examine: Effect.void,
  }
  const sent: Array<WatchdogPing> = []
  const logs: Array<string> = []
  const layer = Watchdog.layer({
    interval: Duration.minutes(1),
    isStopping: Effect.sync(() => control.isStopping),
  }).pipe(
    Layer.provide([
      Layer.succeed(HealthExamination, {
        examine: (isStopping) =>
          Effect.andThen(
            Effect.suspend(() => control.examine),
            Effect.sync((): Health => (isStopping ? { state: "stopping" } : control.health)),
          ),
      }),
      Layer.succeed(WatchdogReceiver, {
        send: (watchdog) =>
          Effect.suspend(() => {
            sent.push(watchdog)
            return control.receipt
          }),
      }),
      Logger.layer([Logger.map(Logger.formatJson, (line) => void logs.push(line))]),
    ]),
  )
  const scope = yield* Scope.make()
  yield* Layer.buildWithScope(layer, scope)
  yield* TestClock.adjust("0 millis")
  const stop = Scope.close(scope, Exit.void)
  yield* Effect.addFinalizer(() => stop)
  return { control, sent, logs, stop }
})

const messages = (logs: ReadonlyArray<string>) =>
  logs.map((line) => String((JSON.parse(line) as { readonly message: unknown }).message))

const test = testsFrom(beating, it.effect)

describe("watchdog", () => {
  test("are sent immediately, then at each interval, and log nothing while all is well", function* (opened) {
    const { sent, logs } = opened
    assert.lengthOf(sent, 1)
    yield* TestClock.adjust("59 seconds")
    assert.lengthOf(sent, 1)
    yield* TestClock.adjust("10 minutes")
    assert.deepStrictEqual(
      sent,
      Array.from({ length: 11 }, () => ({ isWell: true })),
    )
    assert.deepStrictEqual(logs, [])
  })

  test("keep their time however long each takes, and never run side by side", function* ({ control, sent }) {
    control.receipt = Effect.delay(Effect.succeed(taken), "10 seconds")
    yield* TestClock.adjust("10 minutes")
    assert.lengthOf(sent, 11)
    control.receipt = Effect.delay(Effect.succeed(taken), "90 seconds")
    yield* TestClock.adjust("9 minutes")
    assert.isAtMost(sent.length, 11 + 7)
  })

  test("report trouble while it lasts, and log when it begins and ends", function* ({ control, sent, logs }) {
    control.health = late
    yield* TestClock.adjust("190 seconds")
    const text =
      "Tocsin is not well: the storage refuses writes (full); webhook has not delivered a notification for 16 minutes."
    assert.deepStrictEqual(
      sent.slice(1),
      Array.from({ length: 3 }, () => ({ isWell: false, text })),
    )
    control.health = { state: "well" }
    yield* TestClock.adjust("3 minutes")
    assert.deepStrictEqual(sent.at(-1), { isWell: true })
    assert.deepStrictEqual(messages(logs), [text, "Tocsin is well again"])
  })

  test("say nothing of trouble that is over within ten seconds", function* ({ control, sent, logs }) {
    yield* TestClock.adjust("55 seconds")
    control.health = late
    yield* TestClock.adjust("14 seconds")
    assert.lengthOf(sent, 1)
    control.health = { state: "well" }
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(sent, [{ isWell: true }, { isWell: true }])
    assert.deepStrictEqual(logs, [])
  })

  test("go on where they do not arrive, and say so once", function* ({ control, sent, logs }) {
    control.receipt = Effect.succeed(refused)
    yield* TestClock.adjust("5 minutes")
    control.receipt = Effect.succeed(taken)
    yield* TestClock.adjust("1 minute")
    assert.lengthOf(sent, 7)
    assert.deepStrictEqual(messages(logs), [
      "the watchdog ping did not arrive; the next one follows on schedule",
      "watchdog pings arrive again",
    ])
  })

  test("outlive a mistake", function* ({ control, sent }) {
    control.examine = Effect.die(new Error("a mistake"))
    yield* TestClock.adjust("2 minutes")
    assert.lengthOf(sent, 1)
    control.examine = Effect.void
    yield* TestClock.adjust("1 minute")
    assert.lengthOf(sent, 2)
  })

  test("end when the service stops, without a last word", function* ({ control, sent, stop }) {
    control.isStopping = true
    yield* TestClock.adjust("3 minutes")
    assert.lengthOf(sent, 1)
    control.isStopping = false
    control.receipt = Effect.never
    yield* TestClock.adjust("1 minute")
    assert.lengthOf(sent, 2)
    yield* stop
    yield* TestClock.adjust("10 minutes")
    assert.lengthOf(sent, 2)
    for (const watchdog of sent) assert.isTrue(watchdog.isWell)
  })
})
