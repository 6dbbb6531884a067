import { Commits } from "@tocsin/core/kernel/engine/commits/Commits"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { writeServiceHeartbeat } from "@tocsin/core/heart/liveness/outage"
import { defaultRules } from "@tocsin/core/kernel/ports/RuleSettings"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { OutboxSignal } from "@tocsin/core/heart/notifications/OutboxSignal"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, PubSub, Stream } from "effect"
import { heartbeat, report } from "../service/agents.ts"
import { settled } from "../service/settled.ts"
import { openTimeline } from "../service/Timeline.ts"

const open = Effect.gen(function* () {
  const { process, disk, agent } = yield* openTimeline({ process: { delivers: false } })
  const { signal } = process
  /** By how much an effect raises the count. */
  const raisedBy = Effect.fnUntraced(function* <A, E>(effect: Effect.Effect<A, E>) {
    const before = yield* signal.count
    yield* effect
    return (yield* signal.count) - before
  })
  return { process, disk, agent, signal, raisedBy }
})

describe("the outbox signal", () => {
  it.effect("rises with commands that change the outbox, and with no others", () =>
    Effect.gen(function* () {
      const { process, disk, agent, raisedBy } = yield* open
      assert.strictEqual(yield* raisedBy(heartbeat(process)), 0)
      assert.strictEqual(yield* raisedBy(disk.turns("ok")), 0)
      assert.strictEqual(yield* raisedBy(disk.turns("critical", { loud: false })), 0)
      assert.strictEqual(yield* raisedBy(disk.turns("ok")), 0)
      assert.strictEqual(yield* raisedBy(disk.turns("critical")), 1)
      // Discarding one item can release a later one.
      assert.strictEqual(yield* raisedBy(agent().isDeleted), 1)
      assert.strictEqual(yield* raisedBy(process.commits.transact(writeServiceHeartbeat(defaultRules))), 0)
    }),
  )

  it.effect("wakes every waiter, and lets none wait that has not seen it", () =>
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

  it.effect("rises with the hints of a storage", () =>
    Effect.gen(function* () {
      const hints = yield* PubSub.unbounded<void>()
      const memory = Context.get(yield* Layer.build(MemoryStorage.layer), Storage)
      const services = yield* Layer.build(
        OutboxSignal.layer.pipe(
          Layer.provide(Commits.layer),
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

  it.effect("does not rise with a command that fails", () =>
    Effect.gen(function* () {
      const { process, signal } = yield* open
      process.faults.isUnreachable = true
      const before = yield* signal.count
      yield* Effect.flip(report(process, [{ check: "disk", status: "critical" }]))
      assert.strictEqual(yield* signal.count, before)
    }),
  )
})
