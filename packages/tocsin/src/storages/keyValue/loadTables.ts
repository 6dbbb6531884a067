import { MemoryTables } from "@tocsin/core/tables/MemoryTables"
import { persistChanges } from "@tocsin/core/tables/persistChanges"
import type { StoredHistoryRecord } from "@tocsin/core/lists/ListDefinitions"
import type { IncidentChangeRecord } from "@tocsin/core/incidents/IncidentChangeRecord"
import type { AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { EstablishedName } from "@tocsin/core/ports/Storage"
import type { Change } from "@tocsin/core/workspace/Table"
import type { WorkspaceChanges } from "@tocsin/core/workspace/Workspace"
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
    const ofTable = rows.get(table)
    if (ofTable === undefined) rows.set(table, [readRow(text)])
    else ofTable.push(readRow(text))
  }
  return tablesOf(rows)
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
    removedChecks: [],
    removedAgents: rowsOf<AgentRecord>("removed_registration"),
    history: [],
  }
  const tables = new MemoryTables()
  persistChanges(tables, changes)
  loadHistory(tables, rowsOf("check_event"))
  for (const { seq } of rowsOf<{ readonly seq: number }>("sequence")) tables.lastSeq = seq
  for (const { name, value } of rowsOf<Established>("established")) tables.established.set(name, value)
  return tables
}

interface Established {
  readonly name: EstablishedName
  readonly value: string
}

/** Under the numbers that the rows have: those of persistChanges are new ones. */
const loadHistory = (tables: MemoryTables, history: ReadonlyArray<StoredHistoryRecord>): void => {
  for (const row of history.toSorted((a, b) => a.seq - b.seq)) {
    tables.history.push(row)
    const known = tables.knownEvents.get(row.registration_id)
    if (known === undefined) tables.knownEvents.set(row.registration_id, new Set([row.event_id]))
    else known.add(row.event_id)
  }
}
