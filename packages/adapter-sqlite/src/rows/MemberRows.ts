import type { AgentId, IncidentId } from "@tocsin/core/contract/Identifiers"
import type { Instant } from "@tocsin/core/contract/Instant"
import type { MemberRecord, MemberRef } from "@tocsin/core/incidents/MemberRecord"
import type { Change } from "@tocsin/core/engine/workspace/Table"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import { type Column, RowWriter } from "./RowWriter.ts"

type Field<Name extends keyof MemberRecord> = Exclude<MemberRecord[Name], undefined>

const KEY: ReadonlyArray<Column<MemberRecord>> = [
  { name: "incident_id", of: (member) => member.incident_id },
  { name: "agent_id", of: (member) => member.agent_id },
  { name: "check_id", of: (member) => member.check_id },
]
const REST: ReadonlyArray<Column<MemberRecord>> = [
  { name: "severity", of: (member) => member.severity },
  { name: "change_seq", of: (member) => member.change_seq },
  { name: "summary", of: (member) => member.summary },
  { name: "joined_at", of: (member) => member.joined_at },
  { name: "left_at", of: (member) => member.left_at },
]
const COLUMNS = [...KEY, ...REST].map(({ name }) => name)

type MemberRow = readonly [
  incident_id: IncidentId,
  agent_id: AgentId,
  check_id: Field<"check_id">,
  severity: Field<"severity">,
  change_seq: bigint,
  summary: string | null,
  joined_at: Instant,
  left_at: Instant | null,
]

const toMember = (row: MemberRow): MemberRecord => ({
  incident_id: row[0],
  agent_id: row[1],
  check_id: row[2],
  severity: row[3],
  change_seq: Number(row[4]),
  summary: row[5] ?? undefined,
  joined_at: row[6],
  left_at: row[7] ?? undefined,
})

/** Table `incident_member`. */
export const makeMemberRows = (connection: SqliteConnection) => {
  const select = `SELECT ${COLUMNS.join(", ")} FROM incident_member`
  const byRef = connection.query<MemberRow>(
    `${select} WHERE incident_id = ? AND agent_id = ? AND check_id = ?`,
  )
  const ofAgent = connection.query<MemberRow>(
    // Named, because the index of past and present memberships would serve it too, at the cost of the past ones.
    `${select} INDEXED BY incident_member_of_agent WHERE agent_id = ? AND left_at IS NULL`,
  )
  const worst = connection.query<MemberRow>(
    `${select} WHERE incident_id = ? AND is_present = 1 ORDER BY severity_rank DESC, change_seq DESC LIMIT ?`,
  )
  const ranked = connection.query<MemberRow>(
    `${select} WHERE incident_id = ? ORDER BY is_present DESC, severity_rank DESC, change_seq DESC LIMIT ?`,
  )
  const writer = new RowWriter<MemberRecord>(connection, { table: "incident_member", key: KEY, rest: REST })
  return {
    find: (ref: MemberRef): MemberRecord | undefined => {
      const row = byRef.get(ref.incident_id, ref.agent_id, ref.check_id)
      return row && toMember(row)
    },
    /** The present memberships of an agent. */
    ofAgent: (agentId: AgentId): ReadonlyArray<MemberRecord> => ofAgent.all(agentId).map(toMember),
    /** The first present members in the order of `compareMembers`. */
    worst: (id: IncidentId, limit: number): ReadonlyArray<MemberRecord> => worst.all(id, limit).map(toMember),
    /** The first members, present ones before past ones, both in that order. */
    ranked: (id: IncidentId, limit: number): ReadonlyArray<MemberRecord> =>
      ranked.all(id, limit).map(toMember),
    write: (changes: ReadonlyArray<Change<MemberRecord>>): void => writer.writeAll(changes),
  }
}
