import { assert, describe, it } from "@effect/vitest"
import type { IncidentRecord } from "@tocsin/core/heart/model/IncidentRecord"
import { incidentRecord } from "@tocsin/testing/records"
import { start } from "@tocsin/testing/samples"
import { IN_MEMORY, SqliteConnection } from "../../src/connection/SqliteConnection.ts"
import { migrate, migrations } from "../../src/migrations/migrate.ts"
import { RECOUNT_OPEN_INCIDENTS } from "../../src/tables/IncidentTable.ts"
import { makeTables } from "../../src/tables/makeTables.ts"

const insertAgents = (from: number, to: number): string => `
  INSERT INTO agent (agent_id, registration_id, admission_state, hostname, features, observed_at, last_seen_at, registered_at,
                     key_fingerprint, heartbeat_incident_id, checks_ok, checks_warning, checks_critical, checks_unknown)
  SELECT 'agent-' || value, 'registration ' || value, CASE WHEN value % 5 = 0 THEN 'pending' ELSE 'accepted' END, 'host', '{}',
         value, value, value, 'fingerprint', CASE WHEN value % 7 = 0 THEN 'incident' END, value, value + 1, value + 2, value + 3
  FROM json_each(${`'[${Array.from({ length: to - from + 1 }, (_, n) => n + from).join()}]'`})`

const insertIncidents = (from: number, to: number): string => `
  INSERT INTO incident (id, kind, incident_key, state, severity, opener_agent_id, opener_check_id, opened_at, member_changes,
                        members_warning, members_unknown, members_critical, log_entries)
  SELECT 'incident ' || value, 'named', value, CASE WHEN value % 3 = 0 THEN 'open' ELSE 'resolved' END, 'critical', 'a', 'c', 1,
         1, 0, 0, 0, 0
  FROM json_each(${`'[${Array.from({ length: to - from + 1 }, (_, n) => n + from).join()}]'`})`

const COUNTED = `SELECT count(*) FILTER (WHERE admission_state = 'accepted'),
    count(*) FILTER (WHERE admission_state = 'pending'),
    count(*) FILTER (WHERE admission_state = 'accepted' AND heartbeat_incident_id IS NOT NULL),
    coalesce(sum(checks_ok), 0), coalesce(sum(checks_warning), 0), coalesce(sum(checks_critical), 0),
    coalesce(sum(checks_unknown), 0)
  FROM agent`

const KEPT = `SELECT agents_accepted, agents_pending, agents_dead, checks_ok, checks_warning, checks_critical, checks_unknown
  FROM system_total`

const openIncidents = (connection: SqliteConnection): bigint | undefined =>
  connection.query<[bigint]>("SELECT incidents_open FROM system_total").get()?.[0]

const assertSame = (connection: SqliteConnection): void =>
  assert.deepStrictEqual(connection.query(KEPT).all(), connection.query(COUNTED).all())

describe("running totals", () => {
  it("follow every writer, before and after the migration that lets acceptances leave", () => {
    const connection = SqliteConnection.open(IN_MEMORY)
    migrate(connection, start, migrations.slice(0, 1))
    assertSame(connection)
    connection.execute(insertAgents(1, 100))
    migrate(connection, start)
    assertSame(connection)
    connection.execute(insertAgents(101, 200))
    assertSame(connection)
    connection.execute("UPDATE agent SET last_seen_at = 0, hostname = 'other', checks_ok = checks_ok")
    connection.execute("UPDATE agent SET checks_ok = checks_ok - 1, checks_critical = checks_critical + 1")
    connection.execute("UPDATE agent SET heartbeat_incident_id = NULL WHERE registered_at < 50")
    assertSame(connection)
    connection.execute("UPDATE agent SET admission_state = 'accepted' WHERE registered_at < 101")
    assertSame(connection)
    connection.execute("DELETE FROM agent WHERE registered_at % 3 = 0")
    assertSame(connection)
    connection.execute("DELETE FROM agent")
    assert.deepStrictEqual(connection.query<ReadonlyArray<bigint>>(KEPT).all(), [
      [0n, 0n, 0n, 0n, 0n, 0n, 0n],
    ])
  })

  it("count the open incidents again after a copy", () => {
    const connection = SqliteConnection.open(IN_MEMORY)
    migrate(connection, start)
    connection.execute(insertIncidents(1, 20))
    connection.execute(RECOUNT_OPEN_INCIDENTS)
    assert.strictEqual(openIncidents(connection), 6n)
  })

  it("follow the incidents that a transaction opens and resolves, whatever else it changes", () => {
    const connection = SqliteConnection.open(IN_MEMORY)
    migrate(connection, start)
    const { incidents } = makeTables(connection)
    const open = incidentRecord("one")
    const resolved: IncidentRecord = { ...open, state: "resolved" }
    incidents.write([
      { before: undefined, after: open },
      { before: undefined, after: incidentRecord("two") },
      { before: undefined, after: resolved },
    ])
    assert.strictEqual(openIncidents(connection), 2n)
    incidents.write([
      { before: open, after: { ...open, member_changes: 7 } },
      { before: open, after: resolved },
    ])
    assert.strictEqual(openIncidents(connection), 1n)
    incidents.write([
      { before: open, after: resolved },
      { before: undefined, after: open },
    ])
    assert.strictEqual(openIncidents(connection), 1n)
  })
})
