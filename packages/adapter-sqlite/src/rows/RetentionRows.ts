import type { Instant } from "@tocsin/core/contract/Instant"
import type { RetentionTables } from "@tocsin/core/retention/retentionPiece"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"

type Tables = RetentionTables<"now">

type OutboxFacts = readonly [
  id: string,
  created_at: Instant,
  updated_at: Instant,
  incident_id: string | null,
  resolved_at: Instant | null,
  isHeld: bigint,
]

type IncidentFacts = readonly [id: string, opened_at: Instant, resolved_at: Instant | null, isHeld: bigint]

/** Whether a notification of an incident has not ended. */
const isHeld = (incidentId: string): string =>
  `EXISTS (
    SELECT 1 FROM outbox AS other
    WHERE other.incident_id = ${incidentId} AND other.state IN ('pending', 'sending', 'retry')
  )`

const makeLooks = (connection: SqliteConnection): Tables["look"] => {
  const agents = connection.query<[registration_id: string]>(
    "SELECT registration_id FROM removed_registration ORDER BY registration_id LIMIT ?",
  )
  const history = connection.query<[seq: bigint, isNewest: bigint]>(
    `SELECT old.seq, NOT EXISTS (
      SELECT 1 FROM check_event AS newer WHERE newer.registration_id = old.registration_id
        AND newer.check_id = old.check_id AND newer.seq > old.seq
    ) FROM check_event AS old WHERE old.is_kept = 0 AND old.received_at < ? ORDER BY old.received_at LIMIT ?`,
  )
  const outbox = connection.query<OutboxFacts>(
    `SELECT item.id, item.created_at, item.updated_at, incident.id, incident.resolved_at, ${isHeld("item.incident_id")}
    FROM outbox AS item LEFT JOIN incident ON incident.id = item.incident_id
    WHERE item.id > ? ORDER BY item.id LIMIT ?`,
  )
  const incidents = connection.query<IncidentFacts>(
    `SELECT id, opened_at, resolved_at, ${isHeld("incident.id")} FROM incident WHERE id > ? ORDER BY id LIMIT ?`,
  )
  return {
    deleted_agents: ({ limit }) => agents.all(limit).map(([key]) => ({ key })),
    history: ({ before, limit }) =>
      history.all(before, limit).map(([seq, isNewest]) => ({ key: String(seq), isNewest: isNewest === 1n })),
    outbox: ({ after = "", limit }) =>
      outbox.all(after, limit).map(([key, created_at, updated_at, incident, resolved_at, held]) => ({
        key,
        created_at,
        updated_at,
        incident:
          incident === null ? undefined : { resolved_at: resolved_at ?? undefined, isHeld: held === 1n },
      })),
    incidents: ({ after = "", limit }) =>
      incidents.all(after, limit).map(([key, opened_at, resolved_at, held]) => ({
        key,
        opened_at,
        resolved_at: resolved_at ?? undefined,
        isHeld: held === 1n,
      })),
  }
}

const GIVEN = "(SELECT value FROM json_each(?))"
const GIVEN_NUMBERS = "(SELECT CAST(value AS INTEGER) FROM json_each(?))"

const makeRemovals = (connection: SqliteConnection): Tables["remove"] => {
  const removal = (table: string, columns: string, source: string) =>
    connection.query(`DELETE FROM ${table} WHERE (${columns}) IN (SELECT ${columns} FROM ${source} LIMIT ?)`)
  const ofIncidents = (table: string, columns: string) =>
    removal(table, columns, `${table} WHERE incident_id IN ${GIVEN}`)
  const removals = {
    checks_of_agents: removal(
      "check_state",
      "agent_id, check_id, registration_id",
      `(SELECT agent_id, registration_id FROM removed_registration WHERE registration_id IN ${GIVEN})
      CROSS JOIN check_state USING (agent_id, registration_id)`,
    ),
    results_of_agents: removal("check_event", "seq", `check_event WHERE registration_id IN ${GIVEN}`),
    agents: removal(
      "removed_registration",
      "registration_id",
      `removed_registration WHERE registration_id IN ${GIVEN}`,
    ),
    results: removal("check_event", "seq", `check_event WHERE seq IN ${GIVEN_NUMBERS}`),
    notifications: removal("outbox", "id", `outbox WHERE id IN ${GIVEN}`),
    members: ofIncidents("incident_member", "incident_id, agent_id, check_id"),
    changes: ofIncidents("incident_change", "incident_id, seq"),
    alerts: ofIncidents("alert", "incident_id, severity"),
    incidents: removal("incident", "id", `incident WHERE id IN ${GIVEN}`),
  }
  return (rows, keys, limit) => Number(removals[rows].run(JSON.stringify(keys), limit).changes)
}

/** Rows of several tables as retention finds and removes them, each by an index. */
export const makeRetentionRows = (connection: SqliteConnection): Tables => {
  const keep = connection.query(`UPDATE check_event SET is_kept = 1 WHERE seq IN ${GIVEN_NUMBERS}`)
  return {
    look: makeLooks(connection),
    setAside: (keys) => {
      keep.run(JSON.stringify(keys))
    },
    remove: makeRemovals(connection),
  }
}
