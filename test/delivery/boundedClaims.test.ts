import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { assert, describe, it } from "@effect/vitest"
import { MOST_EVALUATED } from "@tocsin/core/firings/gatherFacts"
import { MOST_MEMBERS } from "@tocsin/core/firings/nameReceivers"
import { claimOutbox } from "@tocsin/core/notifications/claimOutbox"
import { range } from "@tocsin/testing/numbers"
import { incidentRecord, outboxRecord, write } from "@tocsin/testing/records"
import { openReplica } from "@tocsin/testing/Replica"
import { START_MILLIS } from "@tocsin/testing/samples"
import { transact } from "@tocsin/testing/transact"
import { Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

const memory = { name: "memory", place: Layer.empty, client: MemoryStorage.layer }
const TOGETHER = MOST_EVALUATED / MOST_MEMBERS

const ITEMS = range(2 * TOGETHER + 1).map((n) => outboxRecord(`${n}`, `${n}`))

/** A storage with a due item for each of some incidents that have as many members as are read. */
const openLarge = () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(START_MILLIS)
    const replica = yield* openReplica(memory)
    yield* write(replica, [], (unit) => {
      for (const [n, item] of ITEMS.entries()) {
        unit.incidents.put(incidentRecord(`${n}`, { members_critical: MOST_MEMBERS }))
        unit.outbox.put(item)
      }
    })
    return replica
  })

describe("a claim", () => {
  it.effect("judges firings of so many members, and leaves the others to the next one", () =>
    Effect.gen(function* () {
      const replica = yield* openLarge()
      const claim = (digestOver?: number) =>
        Effect.map(
          transact(
            replica.storage,
            claimOutbox({
              receivers: ["debug"],
              limit: 100,
              digestOver,
              lease: Duration.hours(1),
              random: 0,
            }),
          ),
          (claimed) => claimed.map(({ isInDigest }) => isInDigest),
        )
      // More are due than those that are judged, so they are for a digest.
      assert.deepStrictEqual(
        yield* claim(TOGETHER + 5),
        range(TOGETHER).map(() => true),
      )
      assert.deepStrictEqual(
        yield* claim(TOGETHER + 5),
        range(TOGETHER).map(() => false),
      )
      assert.deepStrictEqual(yield* claim(), [false])
    }),
  )
})
