import { assert, it } from "@effect/vitest"
import { copiedTables } from "@tocsin/core/lists/StoredTables"
import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Deferred, Effect, Fiber, identity, Stream } from "effect"
import { TestClock } from "effect/testing"
import { withCopyTarget } from "../../src/keyValue/copyKeyValue.ts"
import type { KeyValueOptions } from "../../src/keyValue/KeyValueStorage.ts"

/** Copies one row into a store, and reads all tables back. */
const filling = (options: KeyValueOptions) =>
  withCopyTarget(options, (target) =>
    Effect.andThen(
      target.setLastSeq(7n),
      Effect.forEach(copiedTables, (table) => Stream.runDrain(target.rows(table))),
    ),
  )

const wait = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))

it.live("a copy that is interrupted undoes its write once that has settled, and leaves nothing", () =>
  Effect.gen(function* () {
    const entries = new Map<string, string>()
    const story: Array<string> = []
    const begun = yield* Deferred.make<void>()
    const store = {
      load: () => entries,
      write: async (changes: ReadonlyMap<string, string | undefined>) => {
        story.push("begins")
        Effect.runSync(Deferred.succeed(begun, undefined))
        await wait(20)
        for (const [key, value] of changes)
          if (value === undefined) entries.delete(key)
          else entries.set(key, value)
        story.push(`settles, of ${entries.size}`)
      },
    }
    const fiber = yield* Effect.forkChild(filling({ name: "a slow store", open: async () => store }))
    yield* Deferred.await(begun)
    yield* Fiber.interrupt(fiber)
    assert.deepStrictEqual(story, ["begins", "settles, of 1", "begins", "settles, of 0"])
  }),
)

it.effect("a copy whose write does not settle can be interrupted, and says what may be left", () =>
  Effect.gen(function* () {
    const begun = yield* Deferred.make<void>()
    const write = () => {
      Deferred.doneUnsafe(begun, Effect.void)
      return new Promise<void>(() => {})
    }
    const open = async () => ({ load: () => [], write })
    const fiber = yield* Effect.forkChild(filling({ name: "a stuck store", open }))
    yield* Deferred.await(begun)
    const ending = yield* Effect.forkChild(Fiber.interrupt(fiber), { startImmediately: true })
    yield* TestClock.adjust("8 seconds")
    yield* Fiber.join(ending)
    const { message } = yield* Effect.flip(Effect.flatMap(Fiber.await(fiber), identity))
    assert.include(
      message,
      "a stuck store may keep rows of a copy that failed: empty it before anything uses it",
    )
    assert.include(message, "a write of a stuck store does not settle")
  }),
)

it.effect("a copy into a store that does not open again at once leaves nothing", () =>
  Effect.gen(function* () {
    const entries = new Map<string, string>()
    let opened = 0
    const open = async () => {
      opened += 1
      if (opened === 2) throw new Error("the network is away")
      let isOpen = true
      return {
        load: () => entries,
        write: async (changes: ReadonlyMap<string, string | undefined>) => {
          if (!isOpen) throw new Error("closed")
          for (const [key, value] of changes)
            if (value === undefined) entries.delete(key)
            else entries.set(key, value)
        },
        close: async () => void (isOpen = false),
      }
    }
    const { message } = yield* Effect.flip(filling({ name: "a far store", open }))
    assert.include(message, "the network is away")
    assert.deepStrictEqual([opened, entries.size], [3, 0])
  }),
)

it.effect("a copy that fails, and whose rows cannot be deleted, says that the store keeps them", () =>
  Effect.gen(function* () {
    const entries = new Map<string, string>()
    const full = Object.assign(new Error("no space is left"), { reason: "full" })
    const store = {
      load: () => entries,
      write: async (changes: ReadonlyMap<string, string | undefined>) => {
        if (entries.size > 0) throw full
        for (const [key, value] of changes) if (value !== undefined) entries.set(key, value)
      },
    }
    const copying = withCopyTarget({ name: "a full store", open: async () => store }, (target) =>
      target
        .setLastSeq(7n)
        .pipe(
          Effect.andThen(Effect.forEach(copiedTables, (table) => Stream.runDrain(target.rows(table)))),
          Effect.andThen(Effect.fail(new StorageError({ reason: "damaged", message: "it differs" }))),
        ),
    )
    const { message, reason } = yield* Effect.flip(copying)
    assert.strictEqual(reason, "full")
    assert.include(message, "a full store may keep rows of a copy that failed: empty it")
    assert.include(message, "the copy had failed: it differs")
    assert.strictEqual(entries.size, 1)
  }),
)
