import { assert, describe, it } from "@effect/vitest"
import type { NotifierName } from "@tocsin/core/contract/Status"
import { Notifiers } from "@tocsin/core/ports/Notifiers"
import { HealthExamination } from "@tocsin/core/health/HealthExamination"
import type { Health } from "@tocsin/core/health/judgeHealth"
import { Storage } from "@tocsin/core/ports/Storage"
import { Context, Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { type Answer, deferred, delivered, makeReceivers, refused } from "../delivery/Receivers.ts"
import { AGENT, enroll, report } from "../delivery/reports.ts"
import { settled } from "../delivery/settled.ts"
import { openSite } from "../delivery/Site.ts"

const critical = [{ check: "disk", status: "critical" }] as const

/** A process that delivers by webhook, and what finds out whether it is well. */
const open = Effect.fnUntraced(function* (firstAnswer: Answer = delivered) {
  const control = { answer: firstAnswer }
  const receivers = makeReceivers({ answerTo: () => control.answer })
  const site = yield* openSite({ receivers, notifiers: ["webhook"], hints: true })
  const process = yield* site.open("first")
  yield* enroll(process, AGENT)
  yield* settled
  const checkOf = Effect.fnUntraced(function* (
    storage: Storage["Service"],
    configured: ReadonlyArray<NotifierName> = ["webhook"],
  ) {
    const notifiers = new Map(configured.map((kind) => [kind, receivers.notifier(kind, "first")]))
    const services = yield* Layer.build(
      HealthExamination.layer.pipe(
        Layer.provide([Layer.succeed(Storage, storage), Layer.succeed(Notifiers, notifiers)]),
      ),
    )
    return Context.get(services, HealthExamination).examine(false)
  })
  return { control, process, checkOf, check: yield* checkOf(process.storage) }
})

const faultsOf = (health: Health): ReadonlyArray<string> =>
  health.state === "unwell" ? health.faults.map(({ text }) => text) : []

describe("a service is well", () => {
  it.effect("while nothing happens, and while notifications go out", () =>
    Effect.gen(function* () {
      const { process, check } = yield* open()
      assert.deepStrictEqual(yield* check, { state: "well" })
      yield* report(process, critical)
      yield* TestClock.adjust(Duration.hours(1))
      assert.deepStrictEqual(yield* check, { state: "well" })
    }),
  )

  it.effect("until a receiver has been away for 15 minutes, and again when it took what waits", () =>
    Effect.gen(function* () {
      const { control, process, check } = yield* open(deferred)
      yield* report(process, critical)
      yield* TestClock.adjust(Duration.minutes(14))
      assert.deepStrictEqual(yield* check, { state: "well" })
      yield* TestClock.adjust(Duration.minutes(3))
      assert.deepStrictEqual(faultsOf(yield* check), [
        "webhook has not delivered a notification for 17 minutes",
      ])
      control.answer = delivered
      yield* TestClock.adjust(Duration.hours(1))
      assert.deepStrictEqual(yield* check, { state: "well" })
    }),
  )

  it.effect("until a receiver refuses one, for an hour", () =>
    Effect.gen(function* () {
      const { process, check } = yield* open(refused)
      yield* report(process, critical)
      yield* TestClock.adjust(Duration.minutes(5))
      assert.deepStrictEqual(faultsOf(yield* check), [
        "webhook failed to deliver a notification 5 minutes ago",
      ])
      yield* TestClock.adjust(Duration.hours(1))
      assert.deepStrictEqual(yield* check, { state: "well" })
    }),
  )

  it.effect("whatever notifiers do that other replicas have", () =>
    Effect.gen(function* () {
      const { process, checkOf } = yield* open(deferred)
      yield* report(process, critical)
      yield* TestClock.adjust(Duration.minutes(20))
      assert.deepStrictEqual(yield* yield* checkOf(process.storage, ["messenger"]), { state: "well" })
      assert.deepStrictEqual(yield* yield* checkOf(process.storage, []), { state: "well" })
    }),
  )

  it.effect("while its storage keeps what it is given", () =>
    Effect.gen(function* () {
      const { process, check } = yield* open()
      process.faults.isReadOnly = true
      assert.deepStrictEqual(faultsOf(yield* check), ["the storage refuses writes (full)"])
      process.faults.isReadOnly = false
      assert.deepStrictEqual(yield* check, { state: "well" })
    }),
  )

  it.effect("while its storage answers, within 5 s", () =>
    Effect.gen(function* () {
      const { process, checkOf } = yield* open()
      const hanging = yield* checkOf(Storage.of({ ...process.storage, probe: Effect.never }))
      const looking = yield* Effect.forkChild(hanging)
      yield* TestClock.adjust(Duration.seconds(5))
      assert.deepStrictEqual(faultsOf(yield* Fiber.join(looking)), [
        "the storage does not answer (timed_out)",
        "the storage refuses writes (timed_out)",
      ])
      const mistaken = yield* checkOf(
        Storage.of({ ...process.storage, page: () => Effect.die(new Error("a mistake")) }),
      )
      assert.strictEqual(faultsOf(yield* mistaken)[0], "the storage does not answer (other)")
    }),
  )
})
