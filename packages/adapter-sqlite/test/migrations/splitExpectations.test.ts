import { assert, describe, it } from "@effect/vitest"
import type { AgentId, RegistrationId } from "@tocsin/contract/formats/Identifiers"
import {
  byCheck,
  INSERT_FORMER_EXPECTATIONS,
  PRESENT_EXPECTATIONS,
  REGISTRATION,
} from "@tocsin/testing/rows/formerExpectations"
import { start } from "@tocsin/testing/samples"
import { IN_MEMORY, SqliteConnection } from "../../src/connection/SqliteConnection.ts"
import { migrate, migrations } from "../../src/migrations/migrate.ts"
import { makeTables } from "../../src/tables/makeTables.ts"

const group = { agent_id: "a" as AgentId, registration_id: REGISTRATION as RegistrationId }

describe("expectations of the first version", () => {
  it("become a row for each thing that they meant, and labels find them as before", () => {
    const connection = SqliteConnection.open(IN_MEMORY)
    migrate(connection, start, migrations.slice(0, 2))
    connection.execute(INSERT_FORMER_EXPECTATIONS)
    connection.execute(`INSERT INTO expectation (agent_id, check_id, registration_id, origin, expected_from, terms, next_evaluation_at)
      VALUES ('b', 'damaged', 'r', 'agent', 1, '{', 9)`)
    const labels = connection.query("SELECT * FROM label ORDER BY check_id")
    const before = labels.all()
    migrate(connection, start)
    const { keyed } = makeTables(connection)
    assert.deepStrictEqual<unknown>(
      {
        check_label: byCheck(keyed.check_label.ofGroup(group)),
        expectation: byCheck(keyed.expectation.ofGroup(group)),
        job_run: byCheck(keyed.job_run.ofGroup(group)),
        reported_alert: byCheck(keyed.reported_alert.ofGroup(group)),
      },
      PRESENT_EXPECTATIONS,
    )
    assert.deepStrictEqual(
      connection.query<[string]>("SELECT terms FROM expectation WHERE agent_id = 'b'").all(),
      [["{"]],
    )
    assert.lengthOf(before, 6)
    assert.deepStrictEqual(labels.all(), before)
    connection.execute("DELETE FROM check_label")
    assert.deepStrictEqual(labels.all(), [])
  })
})
