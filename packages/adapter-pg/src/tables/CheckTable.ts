import type { CheckRecord } from "@tocsin/core/checks/CheckRecord"
import type { SqlConnection } from "effect/sql"
import type { PgStatement } from "../client/PgConnection.ts"
import type { Nullable } from "./Nullable.ts"
import {
  deleteStatement,
  insertStatement,
  selectList,
  type TableShape,
  updateStatement,
  upsertStatement,
} from "./TableShape.ts"

const shape: TableShape<CheckRecord> = {
  name: "check_state",
  key: ["agent_id", "check_id", "registration_id"],
  insertOrder: [],
  columns: {
    agent_id: "text",
    registration_id: "uuid",
    check_id: "text",
    status: "text",
    exit_code: "int8",
    last_observed_at: "int8",
    received_at: "int8",
    incident_key: "text",
    summary: "text",
    seen_event_ids: "json",
    incident_id: "text",
  },
}

type CheckRow = Nullable<Omit<CheckRecord, "exit_code">, "incident_key" | "summary" | "incident_id"> & {
  readonly exit_code: bigint
}

/** Columns of a check, of the table alias `c`. */
export const checkColumns = selectList(shape.columns, "c")

/** Inserts checks that are not there; their agent's lock guards them. */
export const insertChecks = insertStatement(shape)

/** Inserts or replaces checks; their agent's lock guards them. */
export const upsertChecks = upsertStatement(shape)

/** Replaces checks; their agent's lock guards them. */
export const updateChecks = updateStatement(shape)

/** Deletes checks; their agent's lock guards them. */
export const deleteChecks = deleteStatement(shape)

/** Reads checks of registrations, with their versions; their agents' locks guard them. */
export const findChecks: PgStatement = {
  name: "find_checks",
  text: `SELECT ${checkColumns}, c.xmin AS version
         FROM json_to_recordset($1) AS wanted (agent_id text, registration_id uuid, ids text[])
         JOIN check_state AS c
           ON c.agent_id = wanted.agent_id AND c.registration_id = wanted.registration_id
          AND c.check_id = ANY(wanted.ids)`,
}

/** Reads one check of an agent's present registration. */
export const findCheck: PgStatement = {
  name: "find_check",
  text: `SELECT ${checkColumns} FROM check_state AS c
         JOIN agent AS a ON a.agent_id = c.agent_id AND a.registration_id = c.registration_id
         WHERE c.agent_id = $1 AND c.check_id = $2`,
}

/** Reads a row that was selected by {@link checkColumns}. */
export const decodeCheck = (found: SqlConnection.Row): CheckRecord => {
  // The columns and their types are those of the migrations; nobody else writes the table.
  const row = found as unknown as CheckRow
  return {
    ...row,
    exit_code: Number(row.exit_code),
    incident_key: row.incident_key ?? undefined,
    summary: row.summary ?? undefined,
    incident_id: row.incident_id ?? undefined,
  }
}
