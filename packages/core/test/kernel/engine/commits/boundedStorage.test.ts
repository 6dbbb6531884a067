import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { CurrentOperator, libraryOperator } from "../../../../src/kernel/ports/CurrentOperator.ts"
import { boundedStorage } from "../../../../src/kernel/engine/commits/storageStack.ts"
import { Storage, StorageError } from "../../../../src/kernel/ports/Storage.ts"
import { orderColumns } from "../../../../src/lists/ListDefinitions.ts"

const LIMIT = Duration.seconds(10)

const bound = (storage: Partial<Storage["Service"]>, limit = LIMIT) =>
  Effect.provide(
    boundedStorage(limit).pipe(Layer.provide(Layer.mock(Storage, { orderOf: orderColumns, ...storage }))),
  )

/** The service heartbeat of a bounded storage whose own does `serviceHeartbeat`. */
const boundedMark = (serviceHeartbeat: Storage["Service"]["serviceHeartbeat"]) =>
  Effect.flatMap(Storage, (storage) => Effect.result(storage.serviceHeartbeat)).pipe(
    bound({ serviceHeartbeat }),
  )

describe("a bounded storage", () => {
  it.effect("returns the storage's result immediately", () =>
    Effect.gen(function* () {
      const error = new StorageError({ reason: "full", message: "full" })
      assert.deepInclude(yield* boundedMark(Effect.undefined), { _tag: "Success", success: undefined })
      assert.deepInclude(yield* boundedMark(Effect.fail(error)), { _tag: "Failure", failure: error })
      const late = yield* Effect.forkChild(boundedMark(Effect.delay(Effect.undefined, "9 seconds")))
      yield* TestClock.adjust("9 seconds")
      assert.deepInclude(yield* Fiber.join(late), { _tag: "Success" })
    }),
  )

  it.effect("bounds each of those that begin at nearly the same time, whatever becomes of the others", () =>
    Effect.gen(function* () {
      const begin = (agentId: string) =>
        Effect.forkChild(
          Effect.flatMap(Storage, (storage) => Effect.result(storage.agent(AgentId.make(agentId)))),
        )
      const agent: Storage["Service"]["agent"] = (agentId) =>
        (agentId as string) === "quick" ? Effect.delay(Effect.undefined, "1 second") : Effect.never
      yield* Effect.gen(function* () {
        const quick = yield* begin("quick")
        const slow = yield* begin("slow")
        yield* TestClock.adjust("50 millis")
        const alike = yield* begin("alike")
        yield* TestClock.adjust("1 second")
        assert.deepInclude(yield* Fiber.join(quick), { _tag: "Success" })
        const later = yield* begin("later")
        yield* TestClock.adjust("8950 millis")
        for (const fiber of [slow, alike])
          assert.nestedInclude(yield* Fiber.join(fiber), { _tag: "Failure", "failure.reason": "timed_out" })
        assert.isUndefined(later.pollUnsafe())
        yield* TestClock.adjust("1050 millis")
        assert.nestedInclude(yield* Fiber.join(later), { _tag: "Failure", "failure.reason": "timed_out" })
      }).pipe(bound({ agent }))
    }),
  )

  it.effect("reads for Tocsin's own work, however many requests read at the same time", () =>
    Effect.gen(function* () {
      let reading = 0
      const agent: Storage["Service"]["agent"] = () =>
        Effect.suspend(() => {
          reading += 1
          return Effect.never
        })
      const read = Effect.flatMap(Storage, (storage) => storage.agent(AgentId.make("a")))
      const ofRequest = Effect.provideService(read, CurrentOperator, {
        ...libraryOperator(),
        via: "api" as const,
        request_id: "request",
      })
      yield* Effect.gen(function* () {
        for (let n = 0; n < 24; n++) yield* Effect.forkChild(ofRequest)
        yield* TestClock.adjust("1 second")
        assert.strictEqual(reading, 6)
        for (let n = 0; n < 4; n++) yield* Effect.forkChild(read)
        yield* TestClock.adjust("1 second")
        assert.strictEqual(reading, 10)
      }).pipe(bound({ agent }))
    }),
  )

  it.live("says so where the process stood still for seconds, which is not the storage's fault", () =>
    Effect.gen(function* () {
      const read = yield* Effect.forkChild(
        Effect.flatMap(Storage, (storage) => Effect.flip(storage.serviceHeartbeat)),
      )
      yield* Effect.yieldNow
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_200)
      const { message, reason } = yield* Fiber.join(read)
      assert.strictEqual(reason, "timed_out")
      assert.include(message, "the process did nothing for at least 1 s")
    }).pipe(bound({ serviceHeartbeat: Effect.never }, Duration.millis(20))),
  )

  it.effect("interrupts work that takes longer", () =>
    Effect.gen(function* () {
      let isInterrupted = false
      const serviceHeartbeat = Effect.onInterrupt(Effect.never, () =>
        Effect.sync(() => (isInterrupted = true)),
      )
      const result = yield* Effect.forkChild(boundedMark(serviceHeartbeat))
      yield* TestClock.adjust(LIMIT)
      assert.nestedInclude(yield* Fiber.join(result), { _tag: "Failure", "failure.reason": "timed_out" })
      assert.isTrue(isInterrupted)
    }),
  )

  it.effect("does not wait for the end of the interrupted work", () =>
    Effect.gen(function* () {
      const serviceHeartbeat = Effect.onInterrupt(Effect.never, () => Effect.sleep("1 hour"))
      const result = yield* Effect.forkChild(boundedMark(serviceHeartbeat))
      yield* TestClock.adjust(LIMIT)
      assert.isDefined(result.pollUnsafe())
      assert.nestedInclude(yield* Fiber.join(result), { _tag: "Failure", "failure.reason": "timed_out" })
    }),
  )

  it.effect("is itself interrupted only when the storage is at rest", () =>
    Effect.gen(function* () {
      const serviceHeartbeat = Effect.onInterrupt(Effect.never, () => Effect.sleep("1 second"))
      const result = yield* Effect.forkChild(boundedMark(serviceHeartbeat))
      yield* Effect.yieldNow
      const interrupting = yield* Effect.forkChild(Fiber.interrupt(result))
      yield* TestClock.adjust("900 millis")
      assert.isUndefined(interrupting.pollUnsafe())
      yield* TestClock.adjust("100 millis")
      assert.isDefined(interrupting.pollUnsafe())
    }),
  )

  it.effect("bounds background work too: nothing else would wake a worker that waits forever", () =>
    Effect.gen(function* () {
      const never = () => Effect.never
      const waits = yield* Effect.forkChild(
        Effect.flatMap(Storage, (storage) =>
          Effect.all(
            [
              Effect.flip(storage.untilNextDue(["debug"], Instant.fromMicros(0n))),
              Effect.flip(
                storage.expire({
                  rule: "history",
                  before: Instant.fromMicros(0n),
                  after: undefined,
                  limit: 1,
                }),
              ),
              Effect.flip(storage.establish("pepper_check", "value")),
            ],
            { concurrency: "unbounded" },
          ),
        ).pipe(bound({ untilNextDue: never, expire: never, establish: never })),
      )
      yield* TestClock.adjust(LIMIT)
      assert.deepStrictEqual(
        (yield* Fiber.join(waits)).map(({ reason }) => reason),
        Array.from({ length: 3 }, () => "timed_out"),
      )
    }),
  )
})
