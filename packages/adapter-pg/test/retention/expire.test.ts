import { assert, layer } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { replay } from "@tocsin/core/heart/notifications/release"
import type { Storage } from "@tocsin/core/kernel/ports/Storage"
import { type Replica, ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { expireAll } from "@tocsin/testing/expireAll"
import { agentRecord, incidentRecord, outboxIdOf, outboxRecord } from "@tocsin/testing/records"
import { eventOf } from "@tocsin/testing/samples"
import { signedBy } from "@tocsin/testing/signedBy"
import { transact } from "@tocsin/testing/transact"
import { Effect } from "effect"
import { expire } from "../../src/retention/expire.ts"
import { openStorage } from "../openStorage.ts"

const setUp = Effect.gen(function* () {
  const scratch = yield* ScratchPostgres
  const storage = yield* openStorage({ url: scratch.url })
  return { storage, observer: yield* scratch.replica(), holder: yield* scratch.replica() }
})

/** Stores the n-th event of an agent, received at the instant n. */
const store = (storage: Storage["Service"], name: string, n: number) =>
  transact(storage, function* (unit) {
    const { agent_id, registration_id } = agentRecord(name)
    yield { agents: [agent_id] }
    unit.putAgent(agentRecord(name))
    unit.store({ ...eventOf(n), agent_id, registration_id, received_at: Instant.fromMicros(BigInt(n)) })
  })

const expireBefore = (storage: Storage["Service"], n: number) =>
  expireAll(storage, { rule: "history", before: Instant.fromMicros(BigInt(n)), limit: 100 })

const historyOf = ({ sql }: Replica, name: string) =>
  Effect.map(
    sql<{ received_at: bigint; is_kept: boolean }>`
      SELECT received_at, is_kept FROM check_event WHERE agent_id = ${name} ORDER BY seq
    `,
    (rows) => rows.map((row) => `${row.received_at}${row.is_kept ? " kept" : ""}`),
  )

layer(ScratchPostgres.layerMigrated)("the newest row of a check", (it) => {
  it.effect("is set aside once it has outlived its retention, until another one replaces it", () =>
    Effect.gen(function* () {
      const { observer, storage } = yield* setUp
      for (const n of [1, 2]) yield* store(storage, "a", n)
      assert.strictEqual(yield* expireBefore(storage, 10), 1)
      assert.deepStrictEqual(yield* historyOf(observer, "a"), ["2 kept"])
      assert.strictEqual(yield* expireBefore(storage, 10), 0)
      yield* store(storage, "a", 20)
      assert.deepStrictEqual(yield* historyOf(observer, "a"), ["2", "20"])
      assert.strictEqual(yield* expireBefore(storage, 10), 1)
      assert.deepStrictEqual(yield* historyOf(observer, "a"), ["20"])
    }),
  )

  it.effect("is not set aside while another one is just being stored", () =>
    Effect.gen(function* () {
      const { holder, observer, storage } = yield* setUp
      yield* store(storage, "b", 1)
      const { sql } = holder
      const removed = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`SELECT 1 FROM agent WHERE agent_id = 'b' FOR UPDATE`
          yield* sql`
            INSERT INTO check_event (agent_id, registration_id, event_id, check_id, observed_at, received_at, status,
                                     exit_code, duration_ms, output_truncated, notifications_enabled)
            SELECT agent_id, registration_id, md5('newer')::uuid, check_id, 20, 20, status, 0, 0, false, true
            FROM check_event WHERE agent_id = 'b'
          `
          return yield* expireBefore(storage, 10)
        }),
      )
      assert.strictEqual(removed, 0)
      assert.deepStrictEqual(yield* historyOf(observer, "b"), ["1", "20"])
      assert.strictEqual(yield* expireBefore(storage, 10), 1)
      assert.deepStrictEqual(yield* historyOf(observer, "b"), ["20"])
    }),
  )
})

layer(ScratchPostgres.layerMigrated)("a notification", (it) => {
  it.effect("that is replayed between the look of retention and its removal stays", () =>
    Effect.gen(function* () {
      const { observer, storage } = yield* setUp
      const [then, id] = [Instant.fromMicros(1n), outboxIdOf("o")]
      yield* transact(storage, function* (unit) {
        yield {}
        unit.incidents.put(incidentRecord("i", { state: "resolved", opened_at: then, resolved_at: then }))
        const failed = {
          state: "failed",
          next_attempt_at: undefined,
          created_at: then,
          updated_at: then,
        } as const
        unit.outbox.put(outboxRecord("o", "i", { ...failed, event_type: "resolved", attempts: 1 }))
      })
      const { pg, sql } = observer
      let outcome: string | undefined
      const database = {
        sql,
        pg: {
          ...pg,
          query: (...given: Parameters<typeof pg.query>) =>
            given[0].includes("DELETE FROM outbox")
              ? transact(storage, replay(id, signedBy("ann"))).pipe(
                  Effect.map((replayed) => void (outcome = replayed)),
                  Effect.orDie,
                  Effect.andThen(pg.query(...given)),
                )
              : pg.query(...given),
        },
      }
      const piece = { rule: "outbox", before: Instant.fromMicros(10n), after: undefined, limit: 10 } as const
      const { removed } = yield* expire(database, piece)
      assert.deepStrictEqual([outcome, removed], ["replayed", 0])
      const left = yield* sql<{ state: string }>`SELECT state FROM outbox WHERE id = ${id}`
      assert.deepStrictEqual(
        left.map(({ state }) => state),
        ["pending"],
      )
    }),
  )
})
