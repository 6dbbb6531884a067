import type { IncidentId } from "@tocsin/core/contract/Identifiers"
import type { Instant } from "@tocsin/core/contract/Instant"
import type { IncidentRecord, IncidentRef } from "@tocsin/core/incidents/IncidentRecord"
import type { Change } from "@tocsin/core/engine/workspace/Table"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { type Column, RowWriter } from "./RowWriter.ts"

type Field<Name extends keyof IncidentRecord> = Exclude<IncidentRecord[Name], undefined>

const KEY: ReadonlyArray<Column<IncidentRecord>> = [{ name: "id", of: (incident) => incident.id }]
const REST: ReadonlyArray<Column<IncidentRecord>> = [
  { name: "kind", of: (incident) => incident.kind },
  { name: "incident_key", of: (incident) => incident.incident_key },
  { name: "state", of: (incident) => incident.state },
  { name: "severity", of: (incident) => incident.severity },
  { name: "opener_agent_id", of: (incident) => incident.opener_agent_id },
  { name: "opener_check_id", of: (incident) => incident.opener_check_id },
  { name: "opened_at", of: (incident) => incident.opened_at },
  { name: "resolved_at", of: (incident) => incident.resolved_at },
  { name: "agent_id", of: (incident) => incident.agent_id },
  { name: "check_id", of: (incident) => incident.check_id },
  { name: "member_changes", of: (incident) => incident.member_changes },
  { name: "members_warning", of: (incident) => incident.members_warning },
  { name: "members_unknown", of: (incident) => incident.members_unknown },
  { name: "members_critical", of: (incident) => incident.members_critical },
  { name: "summary", of: (incident) => incident.summary },
]

/** The columns of an incident, in the order of {@link IncidentRow}. */
export const INCIDENT_COLUMNS = [...KEY, ...REST].map(({ name }) => name)

export type IncidentRow = readonly [
  id: IncidentId,
  kind: Field<"kind">,
  incident_key: Field<"incident_key">,
  state: Field<"state">,
  severity: Field<"severity">,
  opener_agent_id: Field<"opener_agent_id">,
  opener_check_id: Field<"opener_check_id">,
  opened_at: Instant,
  resolved_at: Instant | null,
  agent_id: Field<"agent_id"> | null,
  check_id: Field<"check_id"> | null,
  member_changes: bigint,
  members_warning: bigint,
  members_unknown: bigint,
  members_critical: bigint,
  summary: string | null,
]

/** The record of a row that `INCIDENT_COLUMNS` selected. */
export const toIncident = (row: IncidentRow): IncidentRecord => ({
  id: row[0],
  kind: row[1],
  incident_key: row[2],
  state: row[3],
  severity: row[4],
  opener_agent_id: row[5],
  opener_check_id: row[6],
  opened_at: row[7],
  resolved_at: row[8] ?? undefined,
  agent_id: row[9] ?? undefined,
  check_id: row[10] ?? undefined,
  member_changes: Number(row[11]),
  members_warning: Number(row[12]),
  members_unknown: Number(row[13]),
  members_critical: Number(row[14]),
  summary: row[15] ?? undefined,
})

/** Table `incident`. */
export const makeIncidentRows = (connection: SqliteConnection) => {
  const select = `SELECT ${INCIDENT_COLUMNS.join(", ")} FROM incident`
  const byId = connection.query<IncidentRow>(`${select} WHERE id = ?`)
  const open = connection.query<IncidentRow>(
    `${select} WHERE kind = ? AND incident_key = ? AND state = 'open'`,
  )
  const writer = new RowWriter<IncidentRecord>(connection, { table: "incident", key: KEY, rest: REST })
  return {
    find: (id: IncidentId): IncidentRecord | undefined => {
      const row = byId.get(id)
      return row && toIncident(row)
    },
    findOpen: (ref: IncidentRef): IncidentRecord | undefined => {
      const row = open.get(ref.kind, ref.incident_key)
      return row && toIncident(row)
    },
    /** Writes all; what resolved goes first, because another one of its key may have opened. */
    write: (changes: ReadonlyArray<Change<IncidentRecord>>): void => {
      writer.writeAll(changes.filter(({ after }) => after?.state === "resolved"))
      writer.writeAll(changes.filter(({ after }) => after?.state === "open"))
    },
  }
}
