import type { MemberRecord } from "@tocsin/core/incidents/MemberRecord"
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

const shape: TableShape<MemberRecord> = {
  name: "incident_member",
  key: ["incident_id", "agent_id", "check_id"],
  insertOrder: [],
  columns: {
    incident_id: "text",
    agent_id: "text",
    check_id: "text",
    severity: "text",
    change_seq: "int4",
    summary: "text",
    joined_at: "int8",
    left_at: "int8",
  },
}

type MemberRow = Nullable<MemberRecord, "summary" | "left_at">

const columns = selectList(shape.columns, "m")

/** Inserts the first memberships of new incidents. */
export const insertMembers = insertStatement(shape)

/** Replaces memberships; their incident's lock guards them. */
export const updateMembers = updateStatement(shape)

/** Inserts or replaces memberships; their incident's lock guards them. */
export const upsertMembers = upsertStatement(shape)

/** Reads memberships, past and present, by name. */
export const findMembers: PgStatement = {
  name: "find_members",
  text: `SELECT ${columns}
         FROM json_to_recordset($1) AS wanted (incident_id text, agent_id text, check_id text)
         JOIN incident_member AS m
           ON m.incident_id = wanted.incident_id AND m.agent_id = wanted.agent_id AND m.check_id = wanted.check_id`,
}

/** Reads the present memberships of agents; an index holds only present ones. */
export const findMembersOfAgents: PgStatement = {
  name: "find_members_of_agents",
  text: `SELECT ${columns} FROM incident_member AS m WHERE m.agent_id = ANY($1) AND m.left_at IS NULL`,
}

/** Reads the first present members of an incident in the order of `compareMembers`, which is that of an index. */
export const findWorstMembers: PgStatement = {
  name: "find_worst_members",
  text: `SELECT ${columns} FROM incident_member AS m
         WHERE m.incident_id = $1 AND m.is_present
         ORDER BY m.severity_rank DESC, m.change_seq DESC LIMIT $2`,
}

/** Reads the first members of an incident, present ones before past ones. */
export const findMembersOfIncident: PgStatement = {
  name: "find_members_of_incident",
  text: `SELECT ${columns} FROM incident_member AS m WHERE m.incident_id = $1
         ORDER BY m.is_present DESC, m.severity_rank DESC, m.change_seq DESC LIMIT $2`,
}

/** Reads a row that one of these statements selected. */
export const decodeMember = (found: SqlConnection.Row): MemberRecord => {
  // The columns and their types are those of the migrations; nobody else writes the table.
  const row = found as unknown as MemberRow
  return { ...row, summary: row.summary ?? undefined, left_at: row.left_at ?? undefined }
}
