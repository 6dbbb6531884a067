import type { IncidentRecord } from "@tocsin/core/incidents/IncidentRecord"
import type { SqlConnection } from "effect/sql"
import type { PgStatement } from "../client/PgConnection.ts"
import type { Nullable } from "./Nullable.ts"
import {
  insertStatement,
  selectList,
  type TableShape,
  updateStatement,
  upsertStatement,
} from "./TableShape.ts"

const shape: TableShape<IncidentRecord> = {
  name: "incident",
  key: ["id"],
  insertOrder: ["kind", "incident_key"],
  columns: {
    id: "text",
    kind: "text",
    incident_key: "text",
    state: "text",
    severity: "text",
    agent_id: "text",
    check_id: "text",
    opener_agent_id: "text",
    opener_check_id: "text",
    opened_at: "int8",
    resolved_at: "int8",
    summary: "text",
    member_changes: "int4",
    members_warning: "int4",
    members_unknown: "int4",
    members_critical: "int4",
  },
}

type IncidentRow = Nullable<IncidentRecord, "agent_id" | "check_id" | "resolved_at" | "summary">

/** Columns of an incident, of the table alias `i`. */
export const incidentColumns = selectList(shape.columns, "i")

/** Inserts incidents of new ids; fails where another transaction opened one of the same key meanwhile. */
export const insertIncidents = insertStatement(shape)

/** Inserts or replaces incidents; fails where another transaction opened one of the same key meanwhile. */
export const upsertIncidents = upsertStatement(shape)

/** Replaces incidents, which must be locked. */
export const updateIncidents = updateStatement(shape)

/**
 * Locks incidents, by id or as the open one of a key, in the order of their ids, and with them their members and outbox
 * items. One that another transaction resolved while this one waited is among them, now resolved.
 */
export const lockIncidents: PgStatement = {
  name: "lock_incidents",
  text: `SELECT ${incidentColumns}
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

/** Reads incidents as they stand, locked by others or not. */
export const findIncidents: PgStatement = {
  name: "find_incidents",
  text: `SELECT ${incidentColumns} FROM incident AS i WHERE i.id = ANY($1)`,
}

/** Reads a row that was selected by {@link incidentColumns}. */
export const decodeIncident = (found: SqlConnection.Row): IncidentRecord => {
  // The columns and their types are those of the migrations; nobody else writes the table.
  const row = found as unknown as IncidentRow
  return {
    ...row,
    agent_id: row.agent_id ?? undefined,
    check_id: row.check_id ?? undefined,
    resolved_at: row.resolved_at ?? undefined,
    summary: row.summary ?? undefined,
  }
}
