import { assert, it } from "@effect/vitest"
import { start } from "@tocsin/testing/samples"
import { IN_MEMORY, SqliteConnection } from "../../src/connection/SqliteConnection.ts"
import { migrate, migrations } from "../../src/migrations/migrate.ts"

const STATES = ["pending", "sending", "sent", "retry", "failed", "discarded"]
const STATUSES = ["ok", "warning", "critical", "unknown"]

const insertItem = (state: string): string => `
  INSERT INTO outbox (id, notifier, receiver, state, incident_id, event_type, incident_seq, severity, attempts, next_attempt_at,
                      created_at, age_starts_at, updated_at, next_evaluation_at, must_send)
  VALUES ('${state}', 'webhook', 'night', '${state}', 'i', 'firing', 1, 'critical', 0, 4, 1, 2, 3,
          iif('${state}' = 'pending', 5, NULL), 1)`

const insertCheck = (status: string): string => `
  INSERT INTO check_state (agent_id, check_id, registration_id, status, exit_code, last_observed_at, received_at,
                           incident_id, seen_event_ids, summary, declaration)
  VALUES ('a', '${status}', 'r', '${status}', 1, 2, 3, 'i', '["e"]', 'disk', '{}')`

it("tables whose states are compared one by one keep every row with its place in lists, and refuse other states", () => {
  const connection = SqliteConnection.open(IN_MEMORY)
  const rows = () => [
    ...connection
      .query<object>(
        `SELECT agent_id, check_id, registration_id, status, exit_code, last_observed_at, received_at, incident_key,
          incident_id, seen_event_ids, summary, overdue_incident_id, declaration FROM check_state ORDER BY check_id`,
      )
      .all(),
    ...connection
      .query<object>("SELECT id, state, listed_state, next_evaluation_at, must_send FROM outbox ORDER BY id")
      .all(),
  ]
  migrate(connection, start, migrations.slice(0, 2))
  for (const state of STATES) connection.execute(insertItem(state))
  for (const status of STATUSES) connection.execute(insertCheck(status))
  const before = rows()
  assert.lengthOf(before, 10)
  migrate(connection, start)
  assert.deepStrictEqual(rows(), before)
  for (const insert of [insertItem("lost"), insertCheck("fine"), insertItem("sent")]) {
    assert.throws(() => connection.execute(insert), /constraint failed/)
  }
  const unfinished = connection.query<[string]>(
    `SELECT id FROM outbox INDEXED BY outbox_unfinished
    WHERE incident_id = 'i' AND (state = 'pending' OR state = 'sending' OR state = 'retry') ORDER BY id`,
  )
  assert.deepStrictEqual(unfinished.all().flat(), ["pending", "retry", "sending"])
  connection.close()
})
