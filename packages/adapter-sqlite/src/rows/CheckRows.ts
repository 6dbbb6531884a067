import type { CheckRecord, CheckRef } from "@tocsin/core/checks/CheckRecord"
import type { Change } from "@tocsin/core/engine/workspace/Table"
import type { AgentId, CheckId, EventId } from "@tocsin/core/contract/Identifiers"
import type { Instant } from "@tocsin/core/contract/Instant"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { type Column, RowWriter } from "./RowWriter.ts"

type Field<Name extends keyof CheckRecord> = Exclude<CheckRecord[Name], undefined>

const KEY: ReadonlyArray<Column<CheckRecord>> = [
  { name: "agent_id", of: (check) => check.agent_id },
  { name: "check_id", of: (check) => check.check_id },
  { name: "registration_id", of: (check) => check.registration_id },
]
const REST: ReadonlyArray<Column<CheckRecord>> = [
  { name: "status", of: (check) => check.status },
  { name: "exit_code", of: (check) => check.exit_code },
  { name: "last_observed_at", of: (check) => check.last_observed_at },
  { name: "received_at", of: (check) => check.received_at },
  { name: "incident_id", of: (check) => check.incident_id },
  { name: "incident_key", of: (check) => check.incident_key },
  {
    name: "seen_event_ids",
    of: (check) => check.seen_event_ids,
    write: (check) => JSON.stringify(check.seen_event_ids),
  },
  { name: "summary", of: (check) => check.summary },
]

type Rest = readonly [
  status: Field<"status">,
  exit_code: bigint,
  last_observed_at: Instant,
  received_at: Instant,
  incident_id: Field<"incident_id"> | null,
  incident_key: Field<"incident_key"> | null,
  seen_event_ids: string,
  summary: string | null,
]

/** The columns of a check, in the order of {@link CheckRow}. */
export const CHECK_COLUMNS = [...REST, ...KEY].map(({ name }) => name)
export type CheckRow = readonly [
  ...Rest,
  agent_id: AgentId,
  check_id: CheckId,
  registration_id: Field<"registration_id">,
]

const withRest = (ref: CheckRef, row: Rest | CheckRow): CheckRecord => ({
  agent_id: ref.agent_id,
  registration_id: ref.registration_id,
  check_id: ref.check_id,
  status: row[0],
  exit_code: Number(row[1]),
  last_observed_at: row[2],
  received_at: row[3],
  incident_id: row[4] ?? undefined,
  incident_key: row[5] ?? undefined,
  // Written above.
  seen_event_ids: JSON.parse(row[6]) as ReadonlyArray<EventId>,
  summary: row[7] ?? undefined,
})

/** The record of a row that `CHECK_COLUMNS` selected. */
export const toCheck = (row: CheckRow): CheckRecord =>
  withRest({ agent_id: row[8], check_id: row[9], registration_id: row[10] }, row)

const BY_KEY = "WHERE agent_id = ? AND check_id = ? AND registration_id = ?"

/** Table `check_state`. */
export const makeCheckRows = (connection: SqliteConnection) => {
  const byRef = connection.query<Rest>(
    `SELECT ${REST.map(({ name }) => name).join(", ")} FROM check_state ${BY_KEY}`,
  )
  const ofAgent = connection.query<CheckRow>(
    `SELECT ${CHECK_COLUMNS.map((column) => `r.${column}`).join(", ")}
    FROM agent AS a JOIN check_state AS r ON r.agent_id = a.agent_id AND r.registration_id = a.registration_id
    WHERE a.agent_id = ? AND r.check_id = ?`,
  )
  const writer = new RowWriter<CheckRecord>(connection, { table: "check_state", key: KEY, rest: REST })
  return {
    find: (ref: CheckRef): CheckRecord | undefined => {
      const row = byRef.get(ref.agent_id, ref.check_id, ref.registration_id)
      return row && withRest(ref, row)
    },
    /** The check of an agent's present registration. */
    ofAgent: (agentId: AgentId, checkId: CheckId): CheckRecord | undefined => {
      const row = ofAgent.get(agentId, checkId)
      return row && toCheck(row)
    },
    write: (change: Change<CheckRecord>): void => writer.write(change),
  }
}
