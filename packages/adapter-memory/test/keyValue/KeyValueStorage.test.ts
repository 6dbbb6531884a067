import { assert, it } from "@effect/vitest"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { Context, Deferred, Effect, Exit, Fiber, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import type { KeyValueStore } from "../../src/keyValue/entries.ts"
import { layer } from "../../src/keyValue/KeyValueStorage.ts"

it.effect("a start that waits for a store says so, ends after 30 s, and closes one that opens later", () =>
  Effect.gen(function* () {
    const logged: Array<unknown> = []
    let opens: (store: KeyValueStore) => void = () => {}
    const opening = new Promise<KeyValueStore>((resolve) => void (opens = resolve))
    const closed = yield* Deferred.make<void>()
    const close = () => Effect.runPromise(Effect.asVoid(Deferred.succeed(closed, undefined)))
    const storage = layer({ name: "a far store", open: () => opening })
    const log = Logger.layer([Logger.make(({ message }) => void logged.push(message))])
    const starting = yield* Storage.use(() => Effect.void).pipe(
      Effect.provide(storage),
      Effect.provide(log),
      Effect.flip,
      Effect.forkChild({ startImmediately: true }),
    )
    yield* TestClock.adjust("4 seconds")
    assert.deepStrictEqual(logged, [])
    yield* TestClock.adjust("1 second")
    assert.include(String(logged), "waiting for a far store to open")
    yield* TestClock.adjust("25 seconds")
    const { message, reason } = yield* Fiber.join(starting)
    assert.strictEqual(reason, "timed_out")
    assert.include(message, "open of a far store did not settle within 30 s")
    opens({ load: () => [], write: async () => {}, close })
    yield* Deferred.await(closed)
  }),
)

it.effect("a store may promise its entries", () =>
  Effect.gen(function* () {
    const entries = new Map([["established/pepper_check", '{"name":"pepper_check","value":"kept"}']])
    const store = { load: async () => entries, write: async () => {} }
    const kept = Storage.use((storage) => storage.establish("pepper_check", "new"))
    const storage = layer({ name: "a store", open: async () => store })
    assert.strictEqual(yield* Effect.provide(kept, storage), "kept")
  }),
)

it.effect(
  "a misspelt field of a store is refused, and the store closed; an instance of a class may have more",
  () =>
    Effect.gen(function* () {
      const store = { load: () => [], write: async () => {}, clsoe: async () => {} }
      const opening = (opened: KeyValueStore) =>
        Storage.use(() => Effect.void).pipe(
          Effect.provide(layer({ name: "a store", open: async () => opened })),
        )
      const { message } = yield* Effect.flip(opening(store))
      assert.strictEqual(
        message,
        "in the store that open of a store resolves with, clsoe is not an option; did you mean close?",
      )
      const other = Object({ laod: () => [], write: async () => {} })
      assert.strictEqual(
        (yield* Effect.flip(opening(other))).message,
        "open of a store must resolve with a store: an object with load and write; laod is not an option; did you mean load?",
      )
      class Store {
        readonly file = "a"
        load = () => []
        write = async () => {}
      }
      yield* opening(new Store())
    }),
)

it.effect("a write that returns no promise is refused: a return or an await is missing", () =>
  Effect.gen(function* () {
    const store = Object({ load: () => [], write: () => {} })
    const storage = layer({ name: "a store", open: async () => store })
    const kept = Storage.use(({ establish }) => establish("pepper_check", "new"))
    const { cause } = yield* Effect.flip(Effect.provide(kept, storage))
    assert.include(String(cause), "write of a store must return a promise")
  }),
)

it.effect("a store that fails is quoted, with what caused it", () =>
  Effect.gen(function* () {
    const kept = Storage.use(({ establish }) => establish("pepper_check", "new"))
    const failing = async () => Promise.reject(new Error("EROFS: read-only file system"))
    const readOnly = layer({ name: "a store", open: async () => ({ load: () => [], write: failing }) })
    const rejected = yield* Effect.flip(Effect.provide(kept, readOnly))
    assert.include(
      rejected.message,
      "a store rejected a change and may have kept it (EROFS: read-only file system): repeat the request",
    )
    const open = () =>
      Promise.reject(new Error("the database failed to open.", { cause: new Error("EACCES: LOCK") }))
    const closed = yield* Effect.flip(Effect.provide(kept, layer({ name: "a store", open })))
    assert.strictEqual(closed.message, "a store cannot be opened: the database failed to open: EACCES: LOCK")
    const own = new Error("it is locked")
    own.cause = own
    const locked = layer({ name: "a store", open: () => Promise.reject(own) })
    assert.strictEqual(
      (yield* Effect.flip(Effect.provide(kept, locked))).message,
      "a store cannot be opened: it is locked",
    )
    const text = layer({ name: "a store", open: () => Promise.reject("no\n\u001b[31mdisk") })
    assert.strictEqual(
      (yield* Effect.flip(Effect.provide(kept, text))).message,
      "a store cannot be opened: no disk",
    )
    const inUse = () => Promise.reject(Object.assign(new Error("a.db is open"), { reason: "in_use" }))
    const { message, reason } = yield* Effect.flip(
      Effect.provide(kept, layer({ name: "a store", open: inUse })),
    )
    assert.deepStrictEqual(
      [reason, message],
      [
        "in_use",
        "another process has a store: use the console or the API there, or stop that process (a.db is open)",
      ],
    )
  }),
)

it.effect("a write that does not settle is named in the log", () =>
  Effect.gen(function* () {
    const logged: Array<unknown> = []
    const log = Logger.layer([Logger.make(({ message }) => void logged.push(message))])
    const settled = yield* Deferred.make<void>()
    const writing = yield* Deferred.make<void>()
    const write = () => {
      Deferred.doneUnsafe(writing, Effect.void)
      return Effect.runPromise(Deferred.await(settled))
    }
    const storage = layer({ name: "a stuck store", open: async () => ({ load: () => [], write }) })
    const opened = Context.get(yield* Layer.build(storage), Storage)
    const kept = yield* opened
      .establish("pepper_check", "new")
      .pipe(Effect.provide(log), Effect.forkChild({ startImmediately: true }))
    yield* Deferred.await(writing)
    yield* opened.probe
    yield* TestClock.adjust("5 seconds")
    assert.include(String(logged), "waiting for a write of a stuck store to settle")
    assert.include((yield* Effect.flip(opened.probe)).message, "waiting for a write of a stuck store")
    yield* Deferred.succeed(settled, undefined)
    assert.strictEqual(yield* Fiber.join(kept), "new")
    yield* opened.probe
  }),
)

it.effect("a start that waits for a store can be interrupted", () =>
  Effect.gen(function* () {
    const storage = layer({ name: "a far store", open: () => new Promise(() => {}) })
    const starting = yield* Storage.use(() => Effect.void).pipe(
      Effect.provide(storage),
      Effect.forkChild({ startImmediately: true }),
    )
    yield* Fiber.interrupt(starting)
    assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(starting)))
  }),
)

it.effect("a store that does not close is not waited for", () =>
  Effect.gen(function* () {
    const logged: Array<unknown> = []
    const log = Logger.layer([Logger.make(({ message }) => void logged.push(message))])
    const closing = yield* Deferred.make<void>()
    const close = () => {
      Deferred.doneUnsafe(closing, Effect.void)
      return new Promise<void>(() => {})
    }
    const store = { load: () => [], write: async () => {}, close }
    const storage = layer({ name: "a stuck store", open: async () => store })
    const used = yield* Storage.use(() => Effect.void).pipe(
      Effect.provide(storage),
      Effect.provide(log),
      Effect.forkChild({ startImmediately: true }),
    )
    yield* Deferred.await(closing)
    yield* TestClock.adjust("8 seconds")
    yield* Fiber.join(used)
    assert.include(String(logged), "close of a stuck store did not settle within 8 s")
  }),
)
