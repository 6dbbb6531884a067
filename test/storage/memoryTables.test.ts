import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { recordResults } from "@tocsin/core/heart/notifications/recordResults"
import { HistoryRows, MemoryTables } from "@tocsin/adapter-memory/MemoryTables"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Storage } from "@tocsin/core/kernel/ports/Storage"
import { assert, describe, it } from "@effect/vitest"
import { expireAll } from "@tocsin/testing/expireAll"
import { openReplica } from "@tocsin/testing/Replica"
import { enroll, eventOf, send, START_MILLIS } from "@tocsin/testing/samples"
import { Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { transact } from "@tocsin/testing/transact"
import type { StoredHistoryRecord } from "@tocsin/core/heart/model/CheckRecord"
import { claimItems } from "@tocsin/testing/claimItems"

const openOn = (tables: MemoryTables) =>
  openReplica(
    { name: "memory", place: Layer.empty, client: Layer.succeed(Storage, MemoryStorage.make(tables)) },
    { notifiers: ["debug"] },
  )

/** History that counts how many of its rows were looked at. */
class CountedHistory extends HistoryRows {
  looks = 0;
  override *values(): MapIterator<StoredHistoryRecord> {
    for (const row of super.values()) {
      this.looks += 1
      yield row
    }
  }
}

describe("the tables of the memory storage", () => {
  it.effect("hold nothing of deleted agents and expired incidents", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(START_MILLIS)
      const tables = new MemoryTables()
      const replica = yield* openOn(tables)
      const { storage } = replica
      yield* enroll(replica, "a")
      for (const [n, status] of (["critical", "ok", "warning"] as const).entries()) {
        yield* send(replica, "a", [eventOf(n, { status, exit_code: n })])
        const lease = Duration.seconds(60)
        for (const item of yield* claimItems(replica.commits, { receivers: ["debug"], limit: 10, lease }))
          yield* transact(
            storage,
            recordResults([{ claim: item.claim, result: { outcome: "delivered" }, random: 0 }]),
          )
      }
      yield* replica.admission.remove(AgentId.make("a"))
      yield* TestClock.adjust(Duration.days(2))
      const lease = Duration.seconds(60)
      for (const item of yield* claimItems(replica.commits, { receivers: ["debug"], limit: 10, lease }))
        yield* transact(
          storage,
          recordResults([{ claim: item.claim, result: { outcome: "refused", error: "gone" }, random: 0 }]),
        )
      yield* TestClock.adjust(Duration.days(1))
      const before = yield* Instant.now
      for (const rule of ["deleted_agents", "history", "outbox", "incidents", "audit"] as const)
        yield* expireAll(storage, { rule, before, limit: 2 })
      const left = Object.entries(tables).filter(
        ([, table]) => (table instanceof Map || table instanceof Set) && table.size > 0,
      )
      assert.deepStrictEqual(left, [])
      const { named, automatic } = tables.openIncidents
      assert.strictEqual(named.size + automatic.size, 0)
    }),
  )

  it.effect("expire history by reading few rows beyond those that they remove", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(START_MILLIS)
      const history = new CountedHistory()
      const tables = Object.assign(new MemoryTables(), { history })
      const replica = yield* openOn(tables)
      yield* enroll(replica, "a")
      const rows = 1_000
      for (let batch = 0; batch < rows / 100; batch++) {
        const numbers = Array.from({ length: 100 }, (_, n) => batch * 100 + n)
        yield* send(
          replica,
          "a",
          numbers.map((n) => eventOf(n, { exit_code: n })),
        )
      }
      yield* TestClock.adjust(Duration.days(1))
      history.looks = 0
      const limit = 10
      const piece = { rule: "history", before: yield* Instant.now, after: undefined, limit } as const
      assert.strictEqual((yield* replica.storage.expire(piece)).removed, limit)
      assert.isAtMost(history.looks, limit + 1)
      assert.strictEqual(history.size, rows - limit)
      history.looks = 0
      const young = { ...piece, before: Instant.fromMillis(START_MILLIS) }
      assert.strictEqual((yield* replica.storage.expire(young)).removed, 0)
      assert.strictEqual(history.looks, 1)
    }),
  )
})
