import { isSearch } from "@tocsin/core/kernel/unitOfWork/Search"
import { lone } from "@tocsin/core/kernel/unitOfWork/Decision"
import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { WITHOUT_POLICY } from "@tocsin/core/heart/firings/gatherFacts"
import { EVALUATED_TOGETHER, MOST_EVALUATED, MOST_MEMBERS } from "@tocsin/core/heart/firings/loudMembers"
import { heldItems } from "@tocsin/core/heart/firings/readHolds"
import type { IncidentRecord } from "@tocsin/core/heart/model/IncidentRecord"
import type { OutboxRecord } from "@tocsin/core/heart/model/OutboxRecord"
import { claimItems } from "@tocsin/testing/claimItems"
import { claimOutbox } from "@tocsin/core/heart/notifications/claimOutbox"
import { range } from "@tocsin/testing/numbers"
import { incidentRecord, ONE_CRITICAL, outboxRecord, write } from "@tocsin/testing/records"
import { openReplica } from "@tocsin/testing/Replica"
import { START_MILLIS, start } from "@tocsin/testing/samples"
import { transact } from "@tocsin/testing/transact"
import { Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"

const memory = { name: "memory", place: Layer.empty, client: MemoryStorage.layer }
const TOGETHER = MOST_EVALUATED / MOST_MEMBERS

const ITEMS = range(2 * TOGETHER + 1).map((n) => outboxRecord(`${n}`, `${n}`))

/** A storage with a due item for each of some incidents that have as many members as are read. */
const openLarge = (acknowledged: Partial<IncidentRecord> = {}) =>
  Effect.gen(function* () {
    yield* TestClock.setTime(START_MILLIS)
    const replica = yield* openReplica(memory)
    yield* write(replica, [], (unit) => {
      for (const [n, item] of ITEMS.entries()) {
        unit.incidents.put(incidentRecord(`${n}`, { members_critical: MOST_MEMBERS, ...acknowledged }))
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
          claimItems(replica.commits, {
            receivers: ["debug"],
            limit: 100,
            digestOver,
            lease: Duration.hours(1),
          }),
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

  it.effect("judges each firing once, and few behind those that it takes where others are held", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(START_MILLIS)
      const replica = yield* openReplica(memory)
      const ack_until = Instant.plus(start, Duration.hours(1))
      const acknowledged = { ack_by: "ann", ack_at: start, ack_until, ack_severity: "critical" } as const
      yield* write(replica, [], (unit) => {
        for (const n of range(100)) {
          const changes = n % 3 === 0 ? { ...ONE_CRITICAL, ...acknowledged } : ONE_CRITICAL
          unit.incidents.put(incidentRecord(`${n}`, changes))
          unit.outbox.put(outboxRecord(`${n}`, `${n}`))
        }
      })
      let judged = 0
      const counted = lone(function* (unit, now) {
        const input = { receivers: ["debug"], limit: 10, lease: Duration.hours(1) } as const
        const claim = claimOutbox(input)(unit, now)
        let step = claim.next()
        while (step.done !== true) {
          if (isSearch(step.value, "loudMembers")) judged += step.value.asked.length
          step = claim.next(yield step.value)
        }
        return step.value.items.length
      })
      const taken = yield* transact(replica.storage, counted)
      assert.strictEqual(taken, 10)
      assert.isAtMost(judged, 2 * taken)
    }),
  )
})

describe("the holds of listed items", () => {
  it.effect("are those of so many members in one transaction", () =>
    Effect.gen(function* () {
      const [ack_at, ack_until] = [start, Instant.plus(start, Duration.hours(1))]
      const { storage } = yield* openLarge({ ack_by: "ann", ack_at, ack_until, ack_severity: "critical" })
      const sizes: Array<number> = []
      for (let left: ReadonlyArray<OutboxRecord> = ITEMS; left.length > 0;) {
        const { held, rest } = yield* transact(storage, heldItems(left, WITHOUT_POLICY))
        assert.deepStrictEqual(
          Array.from(held.values(), ({ held_by }) => held_by),
          range(held.size).map(() => ["ack"] as const),
        )
        sizes.push(held.size)
        left = rest
      }
      const together = EVALUATED_TOGETHER / MOST_MEMBERS
      const [last = 0, ...others] = sizes.toReversed()
      assert.deepStrictEqual(
        [last, Array.from(new Set(others)), others.length * together + last],
        [1, [together], ITEMS.length],
      )
    }),
  )
})
