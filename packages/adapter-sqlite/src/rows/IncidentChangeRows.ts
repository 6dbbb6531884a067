import type { IncidentId } from "@tocsin/core/contract/Identifiers"
import type { Instant } from "@tocsin/core/contract/Instant"
import {
  FIRST_CHANGES,
  type IncidentChangeRecord,
  type StoryCut,
} from "@tocsin/core/incidents/IncidentRecord"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { RowInserter } from "./RowInserter.ts"

type Field<Name extends keyof IncidentChangeRecord> = Exclude<IncidentChangeRecord[Name], undefined>

const COLUMNS = [
  "incident_id",
  "seq",
  "changed_at",
  "change",
  "agent_id",
  "check_id",
  "severity",
  "incident_severity",
] as const

type IncidentChangeRow = readonly [
  incident_id: IncidentId,
  seq: bigint,
  changed_at: Instant,
  change: Field<"change">,
  agent_id: Field<"agent_id">,
  check_id: Field<"check_id">,
  severity: Field<"severity">,
  incident_severity: Field<"incident_severity"> | null,
]

const toIncidentChange = (row: IncidentChangeRow): IncidentChangeRecord => ({
  incident_id: row[0],
  seq: Number(row[1]),
  changed_at: row[2],
  change: row[3],
  agent_id: row[4],
  check_id: row[5],
  severity: row[6],
  incident_severity: row[7] ?? undefined,
})

/** Table `incident_change`. */
export const makeIncidentChangeRows = (connection: SqliteConnection) => {
  const inserter = new RowInserter<IncidentChangeRecord>(connection, {
    table: "incident_change",
    columns: COLUMNS,
    addValues: (row, values) => {
      values.push(row.incident_id, row.seq, row.changed_at, row.change)
      values.push(row.agent_id, row.check_id, row.severity, row.incident_severity ?? null)
    },
  })
  const cut = connection.query<never>(
    `DELETE FROM incident_change WHERE incident_id = ? AND seq > ${FIRST_CHANGES} AND seq <= ?`,
  )
  const latest = connection.query<IncidentChangeRow>(
    `SELECT ${COLUMNS.join(", ")} FROM incident_change WHERE incident_id = ? ORDER BY seq DESC LIMIT ?`,
  )
  return {
    add: (rows: ReadonlyArray<IncidentChangeRecord>): void => inserter.insert(rows),
    cut: ({ incident_id, up_to }: StoryCut): void => {
      cut.get(incident_id, up_to)
    },
    /** The latest changes of an incident, newest first. */
    latest: (id: IncidentId, limit: number): ReadonlyArray<IncidentChangeRecord> =>
      latest.all(id, limit).map(toIncidentChange),
  }
}
