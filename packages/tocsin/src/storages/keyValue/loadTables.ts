import { MemoryTables } from "@tocsin/core/memory/MemoryTables"
import { addResult, persistChanges } from "@tocsin/core/memory/persistChanges"
import type { StoredHistoryRecord } from "@tocsin/core/engine/lists/ListDefinitions"
import type { IncidentChangeRecord, IncidentRecord } from "@tocsin/core/incidents/IncidentRecord"
import type { AgentRecord, BlockedKeyRecord } from "@tocsin/core/admission/AgentRecord"
import type { CheckRecord } from "@tocsin/core/checks/CheckRecord"
import type { MemberRecord } from "@tocsin/core/incidents/MemberRecord"
import type { AlertRecord, OutboxRecord } from "@tocsin/core/notifications/OutboxRecord"
import type { Change } from "@tocsin/core/engine/workspace/Table"
import type { WorkspaceChanges } from "@tocsin/core/engine/workspace/Workspace"
import type { Instant } from "@tocsin/core/contract/Instant"
import type { MarkRecord } from "@tocsin/core/liveness/MarkRecord"
import type { EstablishedName } from "@tocsin/core/ports/Storage"
import { rowKeys, type TableName } from "./rowKeys.ts"
import { readRow } from "./rowText.ts"

const isTable = (name: string): name is TableName => Object.hasOwn(rowKeys, name)

/** The tables that entries stand for. Throws where an entry is none of ours. */
export const loadTables = async (
  entries: AsyncIterable<readonly [string, string]> | Iterable<readonly [string, string]>,
): Promise<MemoryTables> => {
  const rows = new Map<TableName, Array<unknown>>()
  for await (const [key, text] of entries) {
    const table = key.slice(0, key.indexOf("/"))
    if (!isTable(table)) throw new Error(`the store holds ${key.slice(0, 64)}, which is no row of Tocsin's`)
    const row = readRow(text)
    checkInstants(key, row, instants[table])
    const ofTable = rows.get(table)
    if (ofTable === undefined) rows.set(table, [row])
    else ofTable.push(row)
  }
  return tablesOf(rows)
}

const checkInstants = (key: string, row: unknown, names: Readonly<Record<string, true>>): void => {
  const fields: Readonly<Record<string, unknown>> = Object(row)
  for (const name of Object.keys(names)) {
    const value = fields[name]
    if (value === undefined || typeof value === "bigint") continue
    throw new Error(
      `${name} of the row ${key} is not a time; it was written by an older version in a program that defines BigInt.prototype.toJSON, so restore a copy of the store from before, or start with an empty one`,
    )
  }
}

type InstantsOf<Row> = { readonly [Name in keyof Row as Instant extends Row[Name] ? Name : never]-?: true }

/** The fields that hold instants: all of them, or it does not compile. */
const instants: {
  readonly agent: InstantsOf<AgentRecord>
  readonly agent_key: InstantsOf<BlockedKeyRecord>
  readonly check_state: InstantsOf<CheckRecord>
  readonly check_event: InstantsOf<StoredHistoryRecord>
  readonly incident: InstantsOf<IncidentRecord>
  readonly incident_member: InstantsOf<MemberRecord>
  readonly incident_change: InstantsOf<IncidentChangeRecord>
  readonly outbox: InstantsOf<OutboxRecord>
  readonly alert: InstantsOf<AlertRecord>
  readonly mark: InstantsOf<MarkRecord>
  readonly established: InstantsOf<Established>
  readonly removed_registration: InstantsOf<AgentRecord>
  readonly sequence: InstantsOf<Sequence>
} = {
  agent: { observed_at: true, last_seen_at: true, registered_at: true },
  agent_key: { created_at: true, last_seen_at: true, blocked_at: true },
  check_state: { last_observed_at: true, received_at: true },
  check_event: { observed_at: true, received_at: true },
  incident: { opened_at: true, resolved_at: true },
  incident_member: { joined_at: true, left_at: true },
  incident_change: { changed_at: true },
  outbox: {
    next_attempt_at: true,
    leased_until: true,
    created_at: true,
    counts_from: true,
    updated_at: true,
  },
  alert: { next_at: true, ended_at: true, leased_until: true },
  mark: { marked_at: true, outage_ended_at: true },
  established: {},
  removed_registration: { observed_at: true, last_seen_at: true, registered_at: true },
  sequence: {},
}

const tablesOf = (rows: ReadonlyMap<TableName, ReadonlyArray<unknown>>): MemoryTables => {
  // What stands under a table's keys was written from its records, by `changedEntries`.
  const rowsOf = <Row>(table: TableName) => (rows.get(table) ?? []) as ReadonlyArray<Row>
  const added = <Row>(table: TableName): ReadonlyArray<Change<Row>> =>
    rowsOf<Row>(table).map((after) => ({ before: undefined, after }))
  const changes: WorkspaceChanges = {
    agents: added("agent"),
    keys: added("agent_key"),
    checks: added("check_state"),
    incidents: added("incident"),
    members: added("incident_member"),
    outbox: added("outbox"),
    alerts: added("alert"),
    marks: added("mark"),
    incidentChanges: rowsOf<IncidentChangeRecord>("incident_change").toSorted((a, b) => a.seq - b.seq),
    storyCuts: [],
    removedChecks: [],
    removedAgents: rowsOf<AgentRecord>("removed_registration"),
    history: [],
  }
  const tables = new MemoryTables()
  persistChanges(tables, changes)
  loadHistory(tables, rowsOf("check_event"))
  for (const { seq } of rowsOf<Sequence>("sequence")) tables.lastSeq = seq
  for (const { name, value } of rowsOf<Established>("established")) tables.established.set(name, value)
  return tables
}

interface Established {
  readonly name: EstablishedName
  readonly value: string
}

interface Sequence {
  readonly seq: number
}

/** Under the numbers that the rows have: those of persistChanges are new ones. */
const loadHistory = (tables: MemoryTables, history: ReadonlyArray<StoredHistoryRecord>): void => {
  for (const row of history.toSorted((a, b) => a.seq - b.seq)) {
    addResult(tables, row)
  }
}
