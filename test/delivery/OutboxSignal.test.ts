import * as MemoryStorage from "@tocsin/core/memory/MemoryStorage"
import { leaveMark } from "@tocsin/core/liveness/outage"
import { defaultPolicy } from "@tocsin/core/ports/Policy"
import { Storage } from "@tocsin/core/ports/Storage"
import { OutboxSignal } from "@tocsin/core/usecases/OutboxSignal"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, PubSub, Stream } from "effect"
import { makeReceivers, delivered } from "./Receivers.ts"
import { AGENT, beat, enroll, report } from "./reports.ts"
import { settled } from "./settled.ts"
import { openSite } from "./Site.ts"

const open = Effect.gen(function* () {
  const site = yield* openSite({ receivers: makeReceivers({ answerTo: () => delivered }) })
  const process = yield* site.open("first", { delivers: false })
  yield* enroll(process, AGENT)
  const { signal } = process
  /** By how much an effect raises the count. */
  const raisedBy = Effect.fnUntraced(function* <A, E>(effect: Effect.Effect<A, E>) {
    const before = yield* signal.count
    yield* effect
    return (yield* signal.count) - before
  })
  return { process, signal, raisedBy }
})

describe("the outbox signal", () => {
  it.effect("is raised by commands that change the outbox, and by no others", () =>
    Effect.gen(function* () {
      const { process, raisedBy } = yield* open
      const silent = [{ check: "disk", status: "critical", loud: false }] as const
      assert.strictEqual(yield* raisedBy(beat(process)), 0)
      assert.strictEqual(yield* raisedBy(report(process, [{ check: "disk", status: "ok" }])), 0)
      assert.strictEqual(yield* raisedBy(report(process, silent)), 0)
      assert.strictEqual(yield* raisedBy(report(process, [{ check: "disk", status: "ok" }])), 0)
      assert.strictEqual(yield* raisedBy(report(process, [{ check: "disk", status: "critical" }])), 1)
      // One that is discarded can let a later one go.
      assert.strictEqual(yield* raisedBy(process.admission.remove(AGENT)), 1)
      assert.strictEqual(yield* raisedBy(process.storage.transact(leaveMark(defaultPolicy))), 0)
    }),
  )

  it.effect("wakes all who wait, and nobody waits who has not seen it yet", () =>
    Effect.gen(function* () {
      const { signal } = yield* open
      const seen = yield* signal.count
      const waiting = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(signal.after(seen)))
      yield* settled
      assert.isTrue(waiting.every((fiber) => fiber.pollUnsafe() === undefined))
      yield* signal.raise
      yield* Fiber.joinAll(waiting)
      yield* signal.after(seen)
      const late = yield* Effect.forkChild(signal.after(yield* signal.count))
      yield* settled
      assert.strictEqual(late.pollUnsafe(), undefined)
      yield* Fiber.interrupt(late)
    }),
  )

  it.effect("is raised by the hints of a storage", () =>
    Effect.gen(function* () {
      const hints = yield* PubSub.unbounded<void>()
      const memory = Context.get(yield* Layer.build(MemoryStorage.layer), Storage)
      const services = yield* Layer.build(
        OutboxSignal.layer.pipe(
          Layer.provide(Layer.succeed(Storage, Storage.of({ ...memory, hints: Stream.fromPubSub(hints) }))),
        ),
      )
      const signal = Context.get(services, OutboxSignal)
      yield* settled
      const waiting = yield* Effect.forkChild(signal.after(yield* signal.count))
      yield* PubSub.publish(hints, undefined)
      yield* Fiber.join(waiting)
      assert.strictEqual(yield* signal.count, 1)
    }),
  )

  it.effect("is not raised by a command that fails", () =>
    Effect.gen(function* () {
      const { process, signal } = yield* open
      process.faults.isAway = true
      const before = yield* signal.count
      yield* Effect.flip(report(process, [{ check: "disk", status: "critical" }]))
      assert.strictEqual(yield* signal.count, before)
    }),
  )
})
