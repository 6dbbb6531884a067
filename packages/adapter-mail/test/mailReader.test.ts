import { EventEmitter, once } from "node:events"
import type { Worker } from "node:worker_threads"
import { mailReader } from "../src/mailReader.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { until } from "../../../test/processes/until.ts"
import { mailAsSent } from "../src/parseMail.ts"

const BYTES = new TextEncoder().encode("Subject: disk failed\n\nx")

/** The part of a thread that the reader uses. */
class Thread extends EventEmitter {
  constructor() {
    super()
    setImmediate(() => this.emit("message", "ready"))
  }

  postMessage(mail: Uint8Array): void {
    setImmediate(() => this.emit("message", mailAsSent(mail, "")))
  }

  terminate(): Promise<number> {
    return Promise.resolve(0)
  }
}

/** A thread that is at work on its first mail for ever. */
class Hanging extends Thread {
  override postMessage(): void {}
}

/** A thread that ends over each mail. */
class Ending extends Thread {
  readonly #ended: Promise<number>

  constructor(ended: Promise<number>) {
    super()
    this.#ended = ended
  }

  override postMessage(): void {
    setImmediate(() => this.emit("exit"))
  }

  override terminate(): Promise<number> {
    return this.#ended
  }
}

// The reader uses no more of a thread.
const asWorker = (thread: Thread) => thread as unknown as Worker

describe("a thread that reads mails", () => {
  it.effect("keeps no listener of the mails that it has read", () =>
    Effect.gen(function* () {
      const thread = new Thread()
      const read = yield* mailReader(() => asWorker(thread))
      const listeners = () => ["message", "error", "exit"].map((event) => thread.listenerCount(event))
      yield* read(BYTES, "")
      const first = listeners()
      for (let n = 0; n < 20; n++)
        assert.include((yield* read(BYTES, "root@vm")).fields.flat(), "disk failed")
      assert.deepStrictEqual(listeners(), first)
    }),
  )

  it.live("answers before it has ended, and another starts before the next mail", () =>
    Effect.gen(function* () {
      const end = new EventEmitter()
      const ended = once(end, "ended").then(() => 1)
      let started = 0
      const read = yield* mailReader(() => {
        started += 1
        return asWorker(new Ending(ended))
      })
      assert.match((yield* read(BYTES, "")).unread ?? "", /too much memory/)
      yield* until(
        "another has started",
        Effect.sync(() => started === 2),
      )
      end.emit("ended")
    }),
  )

  it.effect("that takes long has another beside it, which reads the next mail at once", () =>
    Effect.gen(function* () {
      let started = 0
      const read = yield* mailReader(() => asWorker((started += 1) < 3 ? new Hanging() : new Thread()))
      const turn = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))
      for (const threads of [2, 3]) {
        const hostile = yield* Effect.forkChild(read(BYTES, ""))
        yield* turn
        yield* turn
        yield* TestClock.adjust("1 second")
        yield* turn
        assert.strictEqual(started, threads)
        yield* TestClock.adjust("1 second")
        assert.match((yield* Fiber.join(hostile)).unread ?? "", /longer than 2 s/)
      }
      assert.include((yield* read(BYTES, "")).fields.flat(), "disk failed")
    }),
  )

  it.effect("leaves a mail whose sender waits no longer", () =>
    Effect.gen(function* () {
      let started = 0
      const read = yield* mailReader(() => asWorker((started += 1) === 1 ? new Hanging() : new Thread()))
      const left = yield* Effect.forkChild(read(BYTES, ""))
      const turn = Effect.callback<void>((resume) => void setImmediate(() => resume(Effect.void)))
      yield* turn
      yield* turn
      yield* Fiber.interrupt(left)
      assert.strictEqual((yield* read(BYTES, "")).unread, "")
      assert.strictEqual(started, 2)
    }),
  )

  it.effect("that cannot start fails one mail only", () =>
    Effect.gen(function* () {
      let started = 0
      const read = yield* mailReader(() => {
        if ((started += 1) === 1) throw new Error("ERR_WORKER_INIT_FAILED")
        return asWorker(new Thread())
      })
      assert.match((yield* read(BYTES, "")).unread ?? "", /longer than 2 s/)
      assert.strictEqual((yield* read(BYTES, "")).unread, "")
    }),
  )
})
