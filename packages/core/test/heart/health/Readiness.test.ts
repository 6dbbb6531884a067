import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Storage, StorageError, type StorageFailure } from "@tocsin/core/kernel/ports/Storage"
import { type Command, decideSync } from "@tocsin/core/kernel/unitOfWork/Decision"
import { openUnit } from "@tocsin/core/lists/openUnit"
import { Context, Effect, Layer } from "effect"
import { Commits } from "../../../src/kernel/engine/commits/Commits.ts"
import { TestClock } from "effect/testing"
import { Readiness } from "../../../src/heart/health/Readiness.ts"
import { testsFrom } from "@tocsin/testing/testsFrom"
import { orderColumns } from "../../../src/lists/ListDefinitions.ts"

const failure = (reason: StorageFailure) => new StorageError({ reason, message: reason })

/** A storage that does as it is told, and the readiness that watches it. */
const watched = Effect.gen(function* () {
  const told: { probe: Effect.Effect<void, StorageError>; refusal: StorageFailure | undefined } = {
    probe: Effect.void,
    refusal: undefined,
  }
  const storage = Layer.mock(Storage, {
    orderOf: orderColumns,
    probe: Effect.suspend(() => told.probe),
    transact: (command) =>
      Effect.suspend(() => {
        if (told.refusal !== undefined) return Effect.fail(failure(told.refusal))
        const unit = openUnit()
        const load = () => unit.of("service_heartbeat").load("service", undefined)
        return Effect.succeed(decideSync(command(unit, Instant.fromMicros(0n)), load).committed())
      }),
  })
  const context = yield* Layer.build(
    Readiness.layer.pipe(Layer.provideMerge(Commits.layer), Layer.provide(storage)),
  )
  const { transact } = Context.get(context, Commits)
  const run = (command: Command<void>) => Effect.exit(transact(command))
  return { told, readiness: Context.get(context, Readiness), write: run(writing), look: run(looking) }
})

const writing: Command<void> = function* (unit, now) {
  yield {}
  unit.of("service_heartbeat").put({
    name: "service",
    beat_at: now,
    outage_began_at: undefined,
    outage_ended_at: undefined,
  })
}

const looking: Command<void> = function* () {}

const test = testsFrom(watched, it.effect)

describe("readiness", () => {
  test("is known from the start", function* ({ readiness }) {
    assert.isTrue(yield* readiness.isReady)
  })

  test("ends within 3 s of a loss, and comes back within 5 s", function* ({ told, readiness }) {
    for (const probe of [Effect.fail(failure("unavailable")), Effect.never]) {
      told.probe = probe
      yield* TestClock.adjust("3 seconds")
      assert.isFalse(yield* readiness.isReady)
      told.probe = Effect.void
      yield* TestClock.adjust("5 seconds")
      assert.isTrue(yield* readiness.isReady)
    }
  })

  test("outlives a slow answer of the storage", function* ({ told, readiness }) {
    told.probe = Effect.delay(Effect.void, "1400 millis")
    yield* TestClock.adjust("10 seconds")
    assert.isTrue(yield* readiness.isReady)
  })

  test("outlives a defect of the probe", function* ({ told, readiness }) {
    told.probe = Effect.die(new Error("unforeseen"))
    yield* TestClock.adjust("3 seconds")
    assert.isFalse(yield* readiness.isReady)
    told.probe = Effect.void
    yield* TestClock.adjust("3 seconds")
    assert.isTrue(yield* readiness.isReady)
  })

  test("ends when a write is refused for want of space, until one succeeds", function* (opened) {
    const { told, readiness, write, look } = opened
    told.refusal = "full"
    yield* write
    assert.isFalse(yield* readiness.isReady)
    told.refusal = "timed_out"
    yield* write
    yield* TestClock.adjust("10 seconds")
    assert.isFalse(yield* readiness.isReady)
    told.refusal = undefined
    yield* look
    assert.isFalse(yield* readiness.isReady)
    yield* write
    assert.isTrue(yield* readiness.isReady)
  })

  test("comes back after a loss only once a write succeeds, though the probe does", function* (opened) {
    const { told, readiness, write } = opened
    for (const provesItself of [true, false]) {
      told.probe = Effect.fail(failure("unavailable"))
      told.refusal = "timed_out"
      yield* TestClock.adjust("3 seconds")
      told.probe = Effect.void
      yield* TestClock.adjust("10 seconds")
      assert.isFalse(yield* readiness.isReady)
      told.refusal = undefined
      yield* provesItself ? TestClock.adjust("1 second") : write
      assert.isTrue(yield* readiness.isReady)
    }
  })

  const afterFailedWrite: Readonly<Record<StorageFailure, boolean>> = {
    unavailable: false,
    read_only: false,
    damaged: false,
    full: false,
    timed_out: true,
    in_use: true,
    newer: true,
    other: true,
  }
  for (const [reason, isReady] of Object.entries(afterFailedWrite)) {
    test(`is ${isReady ? "not touched" : "ended"} by a write that fails as ${reason}`, function* (opened) {
      const { told, readiness, write } = opened
      // A key of the table.
      told.refusal = reason as StorageFailure
      yield* write
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual(yield* readiness.isReady, isReady)
    })
  }

  test("ends for good when the service is to stop", function* ({ readiness }) {
    assert.isFalse(readiness.isDraining())
    yield* readiness.drain
    yield* TestClock.adjust("10 seconds")
    assert.isTrue(readiness.isDraining())
    assert.isFalse(yield* readiness.isReady)
  })
})
