import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { expireNow } from "@tocsin/core/lists/retention/retentionPiece"
import { agentRecord } from "@tocsin/testing/records"
import { eventOf, start } from "@tocsin/testing/samples"
import { IN_MEMORY, SqliteConnection } from "../../src/connection/SqliteConnection.ts"
import { migrate } from "../../src/migrations/migrate.ts"
import { makeRetentionTables } from "../../src/retention/expire.ts"
import { makeTables, type Tables } from "../../src/tables/makeTables.ts"

const { agent_id, registration_id } = agentRecord("a")
const LATER = Instant.fromMicros(start + 1_000n)

const rowOf = (n: number) => ({ ...eventOf(n), agent_id, registration_id, received_at: start })

const expire = (connection: SqliteConnection, before: Instant.Instant) => {
  const piece = { rule: "history", before, after: undefined, limit: 10 } as const
  const retention = makeRetentionTables(connection)
  return { found: retention.look.history(piece).length, removed: expireNow(retention, piece).removed }
}

const add = (tables: Tables, n: number): void => tables.history.add([rowOf(n)])

const seqs = (connection: SqliteConnection): ReadonlyArray<bigint> =>
  connection
    .query<[bigint]>("SELECT seq FROM check_event ORDER BY seq")
    .all()
    .map(([seq]) => seq)

describe("history that retention keeps", () => {
  it("is set aside once, and goes when it is replaced", () => {
    const connection = SqliteConnection.open(IN_MEMORY)
    migrate(connection, start)
    const tables = makeTables(connection)
    for (const n of [1, 2]) add(tables, n)
    assert.deepStrictEqual(expire(connection, LATER), { found: 2, removed: 1 })
    assert.deepStrictEqual(expire(connection, LATER), { found: 0, removed: 0 })
    add(tables, 3)
    assert.deepStrictEqual(expire(connection, start), { found: 0, removed: 0 })
    assert.deepStrictEqual(expire(connection, LATER), { found: 2, removed: 1 })
    assert.deepStrictEqual(seqs(connection), [3n])
    connection.close()
  })
})
