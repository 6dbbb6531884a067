import { EventEmitter } from "node:events"
import type { Worker } from "node:worker_threads"
import { mailReader } from "../src/mailReader.ts"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mailAsSent } from "../src/parseMail.ts"

const BYTES = new TextEncoder().encode("Subject: disk failed\n\nx")

/** The part of a thread that the reader uses. */
class Thread extends EventEmitter {
  postMessage(mail: Uint8Array): void {
    setImmediate(() => this.emit("message", mailAsSent(mail, "")))
  }

  terminate(): Promise<number> {
    return Promise.resolve(0)
  }
}

describe("a thread that reads mails", () => {
  it.effect("keeps no listener of the mails that it has read", () =>
    Effect.gen(function* () {
      const thread = new Thread()
      const read = yield* mailReader(() => {
        setImmediate(() => thread.emit("message", "ready"))
        // The reader uses no more of a thread.
        return thread as unknown as Worker
      })
      const listeners = () => ["message", "error", "exit"].map((event) => thread.listenerCount(event))
      yield* read(BYTES, "")
      const first = listeners()
      for (let n = 0; n < 20; n++)
        assert.include((yield* read(BYTES, "root@vm")).fields.flat(), "disk failed")
      assert.deepStrictEqual(listeners(), first)
    }),
  )
})
