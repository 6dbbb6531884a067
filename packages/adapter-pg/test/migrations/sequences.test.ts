import { assert, layer } from "@effect/vitest"
import { ScratchPostgres } from "@tocsin/test/postgres/ScratchPostgres"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { inspectStorage } from "../../src/inspection/inspectStorage.ts"
import { migrate } from "../../src/migrations/migrate.ts"
import { toStorageError } from "../../src/toStorageError.ts"

const insertEvent = (sql: SqlClient.SqlClient, n: number) =>
  sql.unsafe<{
    seq: bigint
  }>(`INSERT INTO check_event (agent_id, registration_id, check_id, event_id, observed_at, received_at,
    status, exit_code, duration_ms, output_truncated, notifications_enabled)
    VALUES ('a', gen_random_uuid(), 'c', gen_random_uuid(), ${n}, ${n}, 'ok', 0, 0, false, true) RETURNING seq`)

const insertSeries = (sql: SqlClient.SqlClient, name: string) =>
  sql.unsafe<{
    id: number
  }>(`INSERT INTO number_series (agent_id, registration_id, check_id, name, unit, newest)
    VALUES ('a', gen_random_uuid(), 'c', '${name}', '', 1) RETURNING id`)

/** A subscriber has the rows of a publication, and sequences as they were created. */
const replicate = (sql: SqlClient.SqlClient) =>
  Effect.gen(function* () {
    for (const n of [1, 2, 3]) yield* insertEvent(sql, n)
    yield* insertSeries(sql, "one")
    yield* sql`ALTER SEQUENCE check_event_seq_seq RESTART`
    yield* sql`ALTER SEQUENCE number_series_id_seq RESTART`
  })

layer(ScratchPostgres.layer)("sequences behind their rows, as after logical replication", (it) => {
  it.effect("are named by an inspection and by what fails, and set right by migrate", () =>
    Effect.gen(function* () {
      const scratch = yield* ScratchPostgres
      const { sql } = yield* scratch.replica()
      yield* migrate(sql)
      const inspected = Effect.map(inspectStorage({ url: scratch.url }), ({ behind }) => behind)
      assert.deepStrictEqual(yield* inspected, [])
      yield* replicate(sql)
      assert.deepStrictEqual(yield* inspected, ["check_event", "number_series"])
      const failed = toStorageError(yield* Effect.flip(insertEvent(sql, 4)))
      assert.match(failed.message, /a sequence of PostgreSQL is behind its rows.*: run tocsin migrate/)
      yield* migrate(sql)
      assert.deepStrictEqual(yield* inspected, [])
      assert.deepStrictEqual(
        (yield* insertEvent(sql, 4)).map(({ seq }) => Number(seq)),
        [4],
      )
      yield* insertSeries(sql, "two")
    }),
  )

  it.effect("are found where the history is partitioned, with a sequence that no column owns", () =>
    Effect.gen(function* () {
      const { sql } = yield* (yield* ScratchPostgres).replica()
      yield* sql`ALTER TABLE check_event ALTER COLUMN seq DROP IDENTITY`
      yield* sql`CREATE SEQUENCE apart`
      yield* sql`ALTER TABLE check_event ALTER COLUMN seq SET DEFAULT nextval('apart')`
      yield* migrate(sql)
      assert.deepStrictEqual(
        (yield* insertEvent(sql, 9)).map(({ seq }) => Number(seq)),
        [5],
      )
    }),
  )
})
