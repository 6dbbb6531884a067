import type { IncidentId } from "@tocsin/core/contract/Identifiers"
import type { Instant } from "@tocsin/core/contract/Instant"
import type { IncidentRecord, IncidentRef } from "@tocsin/core/incidents/IncidentRecord"
import type { Change } from "@tocsin/core/workspace/Table"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { upsert } from "./upsert.ts"

type Field<Name extends keyof IncidentRecord> = Exclude<IncidentRecord[Name], undefined>

/** What stands in an index, or is fixed for an incident's life. */
const SETTLED = [
  "id",
  "kind",
  "incident_key",
  "state",
  "severity",
  "opener_agent_id",
  "opener_check_id",
  "opened_at",
  "resolved_at",
] as const
const MOVING = [
  "agent_id",
  "check_id",
  "member_changes",
  "members_warning",
  "members_unknown",
  "members_critical",
  "summary",
] as const

/** The columns of an incident, in the order of {@link IncidentRow}. */
export const INCIDENT_COLUMNS = [...SETTLED, ...MOVING]

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

const settledValues = (incident: IncidentRecord) => [
  incident.id,
  incident.kind,
  incident.incident_key,
  incident.state,
  incident.severity,
  incident.opener_agent_id,
  incident.opener_check_id,
  incident.opened_at,
  incident.resolved_at ?? null,
]

const movingValues = (incident: IncidentRecord) => [
  incident.agent_id ?? null,
  incident.check_id ?? null,
  incident.member_changes,
  incident.members_warning,
  incident.members_unknown,
  incident.members_critical,
  incident.summary ?? null,
]

const isSettled = (before: IncidentRecord | undefined, after: IncidentRecord): boolean =>
  before?.state === after.state &&
  before.severity === after.severity &&
  before.resolved_at === after.resolved_at

/** Table `incident`. */
export const makeIncidentRows = (connection: SqliteConnection) => {
  const select = `SELECT ${INCIDENT_COLUMNS.join(", ")} FROM incident`
  const byId = connection.query<IncidentRow>(`${select} WHERE id = ?`)
  const open = connection.query<IncidentRow>(
    `${select} WHERE kind = ? AND incident_key = ? AND state = 'open'`,
  )
  const write = connection.query(upsert("incident", INCIDENT_COLUMNS, ["id"]))
  const move = connection.query(
    `UPDATE incident SET ${MOVING.map((column) => `${column} = ?`).join(", ")} WHERE id = ?`,
  )
  const writeOne = ({ before, after }: Change<IncidentRecord>): void => {
    if (after === undefined) return
    if (isSettled(before, after)) move.run(...movingValues(after), after.id)
    else write.run(...settledValues(after), ...movingValues(after))
  }
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
      for (const change of changes) if (change.after?.state === "resolved") writeOne(change)
      for (const change of changes) if (change.after?.state === "open") writeOne(change)
    },
  }
}
