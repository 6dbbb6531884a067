import { assert, describe, it } from "@effect/vitest"
import { start } from "@tocsin/testing/samples"
import { IN_MEMORY, SqliteConnection } from "../../src/connection/SqliteConnection.ts"
import { migrate, migrations } from "../../src/migrations/migrate.ts"

const BEAT = 9_000

/** An incident as a version before episodes left it, which was critical before. */
const insert = (id: string, state: string, announced: string | undefined): string => `
  INSERT INTO incident (id, kind, incident_key, state, severity, opener_agent_id, opener_check_id, opened_at, member_changes,
                        members_warning, members_unknown, members_critical, announced, reached_critical_at)
  VALUES ('${id}', 'automatic', '${id}', '${state}', 'warning', 'a', 'c', 1, 1, 1, 0, 0,
          ${announced === undefined ? "NULL" : `'${announced}'`}, 5)`

describe("the migration to episodes", () => {
  it("counts severities above the announced one as left when the service was last there, and begins no steps", () => {
    const connection = SqliteConnection.open(IN_MEMORY)
    migrate(connection, start, migrations.slice(0, 6))
    connection.execute(`INSERT INTO service_heartbeat (name, beat_at) VALUES ('service', ${BEAT})`)
    connection.execute(insert("warning", "open", "warning"))
    connection.execute(insert("unknown", "open", "unknown"))
    connection.execute(insert("critical", "open", "critical"))
    connection.execute(insert("silent", "open", undefined))
    connection.execute(insert("resolved", "resolved", "warning"))
    migrate(connection, start)
    const rows = connection
      .query<[string, bigint | null, bigint | null, bigint | null, bigint | null, bigint | null]>(
        "SELECT id, left_unknown_at, left_critical_at, forgotten_critical_at, steps_began_at, reached_critical_at FROM incident ORDER BY id",
      )
      .all()
    assert.deepStrictEqual(rows, [
      ["critical", null, null, null, null, 5n],
      ["resolved", null, null, null, null, 5n],
      ["silent", null, null, null, null, 5n],
      ["unknown", null, BigInt(BEAT), null, null, 5n],
      ["warning", BigInt(BEAT), BigInt(BEAT), null, null, 5n],
    ])
    connection.close()
  })
})
