import type { IncidentId } from "@tocsin/contract/formats/Identifiers"
import { orUndefined } from "@tocsin/core/kernel/model/TableShape"
import type { CheckLabelRecord } from "@tocsin/core/heart/model/CheckLabelRecord"
import { FIRST_CHANGES } from "@tocsin/core/kernel/model/timelineCut"
import { storedTables } from "@tocsin/core/lists/StoredTables"
import type { TimelineLimits } from "@tocsin/core/kernel/ports/Storage"
import { Effect } from "effect"
import { type SqlConnection, SqlClient } from "effect/sql"
import { readRows } from "../Database.ts"
import { findOutboxOfIncident } from "./OutboxTable.ts"
import { keyedTables } from "./keyedTables.ts"
import { givenRows, makeTable, reporting, type RowStatement } from "./makeTable.ts"

/** Incidents. The lock of an incident guards its members and its timeline too. */
export const incidentTable = makeTable(storedTables.incident, {
  alias: "i",
  insertOrder: ["kind", "incident_key"],
})

/**
 * Locks incidents, by id or as the open one of a key, in the order of their ids. The result includes
 * an incident that another transaction resolved while this one waited, now resolved.
 */
export const lockIncidents = {
  decode: incidentTable.decode,
  text: `SELECT ${incidentTable.columns}
  FROM (
    SELECT unnest($1::text[]) AS id
    UNION
    SELECT (
      SELECT o.id FROM incident AS o
      WHERE o.kind = given.kind AND o.incident_key = given.incident_key AND o.state = 'open'
    ) FROM json_to_recordset($2) AS given (kind text, incident_key text)
  ) AS wanted
  JOIN incident AS i ON i.id = wanted.id
  ORDER BY i.id FOR UPDATE OF i`,
}

export const findIncidents = incidentTable.select("WHERE i.id = ANY($1)")

/** Finds the incidents whose next evaluation is due by `$1`, longest due first. */
export const findDueIncidents = `SELECT i.id FROM incident AS i
  WHERE i.next_evaluation_at IS NOT NULL AND i.state = 'open' AND i.next_evaluation_at <= $1 ORDER BY i.next_evaluation_at, i.id LIMIT $2`

export const memberTable = keyedTables.incident_member

// A check without labels has no row.
const labelColumns = { labels: orUndefined(storedTables.check_label.columns.labels) }
const labelTable = makeTable<Partial<Pick<CheckLabelRecord, "labels">>>(
  { name: "check_label", key: ["labels"], columns: labelColumns },
  { alias: "x" },
)

/** Looked up for each member, so that an index serves it whatever the planner expects. */
const LABELS = `(
    SELECT ${labelTable.columns} FROM agent AS a JOIN check_label AS x USING (agent_id, registration_id)
    WHERE a.agent_id = m.agent_id AND x.check_id = m.check_id
  ) AS labels`

/** Reads a member and the labels of its check; a check of a deleted agent has none. */
const decodeLabelled = (row: SqlConnection.Row) => ({
  member: memberTable.decode(row),
  ...labelTable.decode(row),
})

/** Reads the first present members of an incident in the order of `compareMembers`, by an index. */
export const findWorstMembers = memberTable.select(
  `WHERE m.incident_id = $1 AND m.is_present
  ORDER BY m.severity_rank DESC, m.change_seq DESC LIMIT $2`,
)

/** Reads the first loud present members of incidents in that order. */
export const findLoudMembers = {
  decode: decodeLabelled,
  text: `SELECT ${memberTable.columns}, ${LABELS}
  FROM json_to_recordset($1) AS wanted (incident_id text, "limit" int4) CROSS JOIN LATERAL (
    SELECT * FROM incident_member AS loud
    WHERE loud.incident_id = wanted.incident_id AND loud.is_present AND loud.is_loud
    ORDER BY loud.severity_rank DESC, loud.change_seq DESC LIMIT wanted."limit"
  ) AS m
  ORDER BY m.incident_id, m.severity_rank DESC, m.change_seq DESC`,
}

export const findOpenIncidents = incidentTable.select("WHERE i.state = 'open' ORDER BY i.id LIMIT $1")

/** Reads the open incidents of agents, checks, keys or hosts, or of members with labels. */
export const findParents = incidentTable.select(`WHERE i.state = 'open' AND i.id IN (
    SELECT incident_id FROM incident_member WHERE left_at IS NULL AND agent_id = ANY($1)
    UNION SELECT incident_id FROM incident_member WHERE left_at IS NULL AND check_id = ANY($2)
    UNION SELECT id FROM incident WHERE state = 'open' AND incident_key = ANY($3)
    UNION SELECT m.incident_id FROM agent AS a JOIN incident_member AS m ON m.agent_id = a.agent_id
    WHERE m.left_at IS NULL AND a.hostname = ANY($4)
    UNION SELECT m.incident_id FROM json_to_recordset($5::json) AS wanted (labels jsonb, check_id text)
    CROSS JOIN LATERAL (
      SELECT a.agent_id, NULL AS check_id FROM agent AS a WHERE a.labels::jsonb @> wanted.labels
      UNION ALL
      SELECT e.agent_id, e.check_id FROM jsonb_each(wanted.labels) AS one
      JOIN check_label AS e ON e.labels::jsonb @> jsonb_build_object(one.key, one.value)
      JOIN agent AS a ON a.agent_id = e.agent_id
      WHERE (coalesce(a.labels::jsonb, '{}') || e.labels::jsonb) @> wanted.labels
    ) AS found
    JOIN incident_member AS m ON m.agent_id = found.agent_id
    WHERE m.left_at IS NULL AND m.check_id = coalesce(found.check_id, m.check_id)
      AND m.check_id = coalesce(wanted.check_id, m.check_id)
  ) ORDER BY i.id LIMIT $6`)

/** Reads when the incidents of keys were opened, each time the latest first. */
export const findOpenings = `SELECT wanted.id, found.opened_at
  FROM json_to_recordset($1)
    AS wanted (id text, kind text, incident_key text, since int8, until int8, "limit" int4)
  CROSS JOIN LATERAL (
    SELECT o.opened_at FROM incident AS o
    WHERE o.incident_key = wanted.incident_key AND o.kind = wanted.kind
      AND o.opened_at > wanted.since AND o.opened_at <= wanted.until
    ORDER BY o.opened_at DESC LIMIT wanted."limit"
  ) AS found`

/** Reads the first members of an incident, present ones before past ones. */
const findMembersOfIncident = {
  decode: decodeLabelled,
  text: `SELECT ${memberTable.columns}, ${LABELS} FROM incident_member AS m WHERE m.incident_id = $1
  ORDER BY m.is_present DESC, m.severity_rank DESC, m.change_seq DESC LIMIT $2`,
}

const { incident_change: change } = storedTables

export const incidentChangeTable = makeTable(change, { alias: "h" })

export const incidentLogTable = makeTable(storedTables.incident_log, { alias: "t" })

const findIncidentLog = incidentLogTable.select("WHERE t.incident_id = $1 ORDER BY t.seq DESC LIMIT $2")

const cutColumns = { incident_id: change.columns.incident_id, up_to: change.columns.seq }

/** Deletes what timelines lose: changes after the first ones, up to `up_to`. */
export const cutTimelines: RowStatement = {
  name: "cut_timelines",
  columns: cutColumns,
  text: reporting(
    `DELETE FROM incident_change AS stored USING ${givenRows(cutColumns)}
     WHERE stored.incident_id = given.incident_id AND stored.seq > ${FIRST_CHANGES} AND stored.seq <= given.up_to`,
  ),
}

const findIncidentChanges = incidentChangeTable.select(
  "WHERE h.incident_id = $1 ORDER BY h.seq DESC LIMIT $2",
)

/** All parts of a timeline are read in one snapshot. */
const BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

/** Reads one incident with its members, changes, acts and notifications; see `Storage.incident`. */
export const readIncidentTimeline = Effect.fnUntraced(
  function* (sql: SqlClient.SqlClient, id: IncidentId, limits: TimelineLimits) {
    const [incident] = yield* readRows(sql, findIncidents, [[id]])
    if (incident === undefined) return undefined
    const labelled = yield* readRows(sql, findMembersOfIncident, [id, limits.members])
    const changes = yield* readRows(sql, findIncidentChanges, [id, limits.changes])
    const outbox = yield* readRows(sql, findOutboxOfIncident, [id, limits.outbox])
    const log = yield* readRows(sql, findIncidentLog, [id, limits.log])
    const members = labelled.map(({ member }) => member)
    return { incident, members, labels: labelled.map(({ labels }) => labels), changes, log, outbox }
  },
  (timeline, sql) =>
    timeline.pipe(sql.withTransaction, Effect.provideService(SqlClient.BeginTransaction, BEGIN)),
)
