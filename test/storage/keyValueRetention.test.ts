import * as KeyValueStorage from "@tocsin/adapter-memory/keyValue/KeyValueStorage"
import type { KeyValueStore } from "@tocsin/adapter-memory/keyValue/entries"
import * as Instant from "@tocsin/contract/formats/Instant"
import { assert, describe, it } from "@effect/vitest"
import { openReplica } from "@tocsin/testing/Replica"
import { rowsOf } from "@tocsin/testing/rowsOf"
import { enroll, eventOf, send, START_MILLIS } from "@tocsin/testing/samples"
import { Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

const RESULTS = 9
const LIMIT = 3

describe("retention of a key-value store", () => {
  it.effect("deletes the keys of expired rows, and removes no row that the store has not deleted", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(START_MILLIS)
      const kept = new Map<string, string>()
      const deleted: Array<ReadonlyArray<string>> = []
      let isFull = false
      const store: KeyValueStore = {
        load: () => kept,
        write: async (changes) => {
          if (isFull) throw new Error("no space left")
          deleted.push(Array.from(changes).flatMap(([key, value]) => (value === undefined ? key : [])))
          for (const [key, value] of changes) {
            if (value === undefined) kept.delete(key)
            else kept.set(key, value)
          }
        },
      }
      const layer = KeyValueStorage.layer({ name: "a map", open: async () => store })
      const replica = yield* openReplica({ name: "a map", place: Layer.empty, client: layer })
      yield* enroll(replica, "a")
      for (let n = 0; n < RESULTS; n++) yield* send(replica, "a", [eventOf(n, { exit_code: n })])
      yield* TestClock.adjust(Duration.days(1))
      const before = yield* Instant.now
      const piece = { rule: "history", before, after: undefined, limit: LIMIT } as const
      isFull = true
      assert.strictEqual((yield* Effect.flip(replica.storage.expire(piece)))._tag, "StorageError")
      assert.lengthOf(yield* rowsOf(replica, "history"), RESULTS)
      isFull = false
      // Undoes the rejected change, which the store may have kept.
      yield* enroll(replica, "b")
      deleted.length = 0
      assert.strictEqual((yield* replica.storage.expire(piece)).removed, LIMIT)
      assert.deepStrictEqual(deleted, [["check_event/1", "check_event/2", "check_event/3"]])
      assert.lengthOf(yield* rowsOf(replica, "history"), RESULTS - LIMIT)
    }),
  )
})
