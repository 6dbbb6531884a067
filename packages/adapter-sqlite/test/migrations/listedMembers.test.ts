import { assert, describe, it } from "@effect/vitest"
import { start } from "@tocsin/testing/samples"
import { IN_MEMORY, SqliteConnection } from "../../src/connection/SqliteConnection.ts"
import { migrate } from "../../src/migrations/migrate.ts"

const migrated = () => {
  const connection = SqliteConnection.open(IN_MEMORY)
  migrate(connection, start)
  const run = (sql: string) => connection.query(sql).all()
  run(`INSERT INTO incident (id, kind, incident_key, state, severity, opener_agent_id, opener_check_id, opened_at,
      member_changes, members_warning, members_unknown, members_critical)
    VALUES ('i', 'named', 'k', 'open', 'critical', 'a', 'disk', 1, 1, 0, 0, 1)`)
  const join = (agent: string) =>
    run(`INSERT INTO incident_member (incident_id, agent_id, check_id, severity, change_seq, joined_at)
      VALUES ('i', '${agent}', 'disk', 'critical', 1, 1)`)
  join("a")
  const listed = () =>
    connection
      .query<[string, string, bigint, bigint]>(
        "SELECT agent_id, check_id, phase, resolved_order FROM listed_member ORDER BY 1, 2",
      )
      .all()
  return { connection, run, join, listed }
}

const OPEN = 9_223_372_036_854_775_807n

describe("a listing row", () => {
  it("does not exist for the check that opened its incident", () => {
    const { listed, run } = migrated()
    run("UPDATE incident SET severity = 'warning', member_changes = 2")
    run("UPDATE incident SET state = 'resolved', resolved_at = 5, member_changes = 3")
    assert.deepStrictEqual(listed(), [])
  })

  it("exists for another member, and moves with its incident", () => {
    const { join, listed, run } = migrated()
    join("b")
    run("UPDATE incident SET member_changes = 2, ack_until = 9")
    assert.deepStrictEqual(listed(), [
      ["b", "", 2n, OPEN],
      ["b", "disk", 2n, OPEN],
    ])
    run("UPDATE incident SET state = 'resolved', resolved_at = 5, ack_until = NULL, member_changes = 4")
    assert.deepStrictEqual(listed(), [
      ["b", "", 0n, 5n],
      ["b", "disk", 0n, 5n],
    ])
    run("DELETE FROM incident_member")
    assert.deepStrictEqual(listed(), [])
  })

  it("is found by its whole key when its member is removed", () => {
    const { connection } = migrated()
    const [[trigger = ""] = []] = connection
      .query<[string]>("SELECT sql FROM sqlite_schema WHERE name = 'member_leaves'")
      .all()
    const deletions = trigger.match(/DELETE FROM [^;]+;/g) ?? []
    assert.isNotEmpty(deletions)
    for (const deletion of deletions) {
      const plan = connection
        .query<[bigint, bigint, bigint, string]>(`EXPLAIN QUERY PLAN ${deletion.replace(/OLD\.\w+/g, "'x'")}`)
        .all()
      assert.deepStrictEqual(
        plan.map(([, , , detail]) => detail),
        ["SEARCH listed_member USING PRIMARY KEY (id=? AND agent_id=? AND check_id=?)"],
      )
    }
  })
})
