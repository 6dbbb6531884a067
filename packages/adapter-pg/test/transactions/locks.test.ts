import { find, type Search } from "@tocsin/core/kernel/unitOfWork/Search"
import { lone } from "@tocsin/core/kernel/unitOfWork/Decision"
import { assert, layer } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Storage } from "@tocsin/core/kernel/ports/Storage"
import type { RowRequest } from "@tocsin/core/kernel/unitOfWork/RowRequest"
import type { UnitOfWork } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { alertRecord, incidentIdOf, incidentRecord, outboxIdOf, outboxRecord } from "@tocsin/testing/records"
import { START_MILLIS } from "@tocsin/testing/samples"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { eventually } from "../client/eventually.ts"
import { openStorage } from "../openStorage.ts"
import { waitingForLocks } from "../waitingForLocks.ts"
import { transact } from "@tocsin/testing/transact"

const NAMES = ["a", "b", "c"]
const LATER_MILLIS = START_MILLIS + 3_600_000
const LATER = Instant.fromMillis(LATER_MILLIS)

/**
 * A storage with an incident, an outbox item that is due and an alert that is due of each name, and
 * two other sessions.
 */
const setUp = Effect.gen(function* () {
  const scratch = yield* ScratchPostgres
  const storage = yield* openStorage({ url: scratch.url })
  const holder = yield* scratch.replica({ maxConnections: 1 })
  const observer = yield* scratch.replica({ maxConnections: 1 })
  yield* holder.sql.unsafe("TRUNCATE incident, outbox, alert CASCADE")
  // oxlint-disable-next-line eslint/require-yield -- a decision that has to see nothing
  yield* transact(storage, function* (unit) {
    for (const name of NAMES) {
      unit.incidents.put(incidentRecord(name))
      unit.outbox.put(outboxRecord(name, name))
      unit.alerts.put(alertRecord(name))
    }
  })
  yield* TestClock.setTime(LATER_MILLIS)
  return { storage, holder, observer }
})

const look = <A>(storage: Storage["Service"], request: RowRequest, read: (unit: UnitOfWork) => A) =>
  transact(storage, function* (unit) {
    yield request
    return read(unit)
  })

const limit = 10
const receivers = ["debug" as const]
const searches: ReadonlyArray<{
  readonly name: string
  readonly table: "outbox" | "alert"
  readonly found: () => Generator<Search, ReadonlyArray<string>, unknown>
}> = [
  {
    name: "items to be sent",
    table: "outbox",
    *found() {
      return (yield* find("claimableOutbox", { receivers, limit })).due.map(({ row }) => row.id)
    },
  },
  {
    name: "items that nobody sends",
    table: "outbox",
    *found() {
      const items = yield* find("unclaimedOutbox", { listed: [], untouchedSince: LATER, limit })
      return items.map((row) => row.id)
    },
  },
  {
    name: "alerts",
    table: "alert",
    *found() {
      const { due } = yield* find("claimableAlerts", { receiver: "alert_router", limit })
      return due.map(({ row }) => row.incident_id)
    },
  },
]

layer(ScratchPostgres.layerMigrated)("a row that another transaction locks", (it) => {
  for (const { found, name, table } of searches) {
    it.effect(`is passed over by a claim of ${name}, which does not wait for it`, () =>
      Effect.gen(function* () {
        const { holder, storage } = yield* setUp
        const idOf = table === "outbox" ? outboxIdOf : incidentIdOf
        const column = holder.sql(table === "outbox" ? "id" : "incident_id")
        const taken = yield* holder.sql.withTransaction(
          Effect.gen(function* () {
            yield* holder.sql`SELECT 1 FROM ${holder.sql(table)} WHERE ${column} = ${idOf("b")} FOR UPDATE`
            return yield* transact(storage, lone(found))
          }),
        )
        assert.sameMembers([...taken], [idOf("a"), idOf("c")])
        assert.lengthOf(yield* transact(storage, lone(found)), 3)
      }),
    )
  }

  it.effect("of several incidents is waited for in the order of their ids, not of the request", () =>
    Effect.gen(function* () {
      const { holder, observer, storage } = yield* setUp
      const ids = NAMES.map(incidentIdOf).toSorted()
      for (const [at, id] of ids.entries()) {
        const { locked, waiting } = yield* holder.sql.withTransaction(
          Effect.gen(function* () {
            yield* holder.sql`SELECT 1 FROM incident WHERE id = ${id} FOR UPDATE`
            const child = yield* Effect.forkChild(
              look(storage, { incidents: ids.toReversed() }, (unit) => unit.incidents.get(id)?.state),
            )
            yield* eventually(Effect.map(waitingForLocks(observer), (count) => count === 1))
            const free = yield* observer.sql<{ id: string }>`SELECT id FROM incident FOR UPDATE SKIP LOCKED`
            const isFree = new Set(free.map((row) => row.id))
            return { waiting: child, locked: ids.filter((one) => !isFree.has(one)) }
          }),
        )
        assert.deepStrictEqual(locked, ids.slice(0, at + 1))
        assert.strictEqual(yield* Fiber.join(waiting), "open")
      }
    }),
  )
})
