import { FIRST_CHANGES, type IncidentChangeRecord } from "@tocsin/core/incidents/IncidentRecord"
import type { SqlConnection } from "effect/sql"
import type { PgStatement } from "../client/PgConnection.ts"
import type { Nullable } from "./Nullable.ts"
import type { Columns } from "./columnArrays.ts"
import {
  givenRows,
  insertStatement,
  type RowStatement,
  selectList,
  type TableShape,
  telling,
} from "./TableShape.ts"

const shape: TableShape<IncidentChangeRecord> = {
  name: "incident_change",
  key: ["incident_id", "seq"],
  insertOrder: [],
  columns: {
    incident_id: "text",
    seq: "int4",
    changed_at: "int8",
    change: "text",
    agent_id: "text",
    check_id: "text",
    severity: "text",
    incident_severity: "text",
  },
}

/** Adds lines to incidents' stories; their incidents' locks guard them. */
export const insertIncidentChanges = insertStatement(shape)

const cutColumns: Columns = { incident_id: "text", up_to: "int4" }

/** Deletes what stories lose; their incidents' locks guard them. */
export const cutStories: RowStatement = {
  name: "cut_stories",
  columns: cutColumns,
  text: telling(
    `DELETE FROM incident_change AS stored
     USING ${givenRows(cutColumns)}
     WHERE stored.incident_id = given.incident_id AND stored.seq > ${FIRST_CHANGES} AND stored.seq <= given.up_to`,
  ),
}

/** Reads the latest lines of an incident's story. */
export const findIncidentChanges: PgStatement = {
  name: "find_incident_changes",
  text: `SELECT ${selectList(shape.columns, "h")} FROM incident_change AS h
         WHERE h.incident_id = $1 ORDER BY h.seq DESC LIMIT $2`,
}

/** Reads a row that this statement selected. */
export const decodeIncidentChange = (found: SqlConnection.Row): IncidentChangeRecord => {
  // The columns and their types are those of the migrations; nobody else writes the table.
  const row = found as unknown as Nullable<IncidentChangeRecord, "incident_severity">
  return { ...row, incident_severity: row.incident_severity ?? undefined }
}
