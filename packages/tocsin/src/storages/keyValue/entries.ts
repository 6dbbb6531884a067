import { MemoryTables } from "@tocsin/core/memory/MemoryTables"
import type { ExpiredRows } from "@tocsin/core/memory/expire"
import { addResult, persistChanges } from "@tocsin/core/memory/persistChanges"
import type { Change } from "@tocsin/core/engine/workspace/Table"
import type { WorkspaceChanges } from "@tocsin/core/engine/workspace/Workspace"
import { isCut } from "@tocsin/core/incidents/IncidentRecord"
import type { Entries } from "./KeyValueStore.ts"
import { readRow, rowKeys, type RowKind, type Rows, writeRow } from "./rows.ts"

/** The entries that a transaction changes. `tables` are as they were before it. */
export const changedEntries = (tables: MemoryTables, changes: WorkspaceChanges): Entries => {
  const entries = new Map<string, string | undefined>()
  const change = <Row>(keyOf: (row: Row) => string, rows: ReadonlyArray<Change<Row>>): void => {
    for (const { before, after } of rows) {
      if (after !== undefined) entries.set(keyOf(after), writeRow(after))
      else if (before !== undefined) entries.set(keyOf(before), undefined)
    }
  }
  change(rowKeys.agent, changes.agents)
  change(rowKeys.agent_key, changes.keys)
  change(rowKeys.check_state, changes.checks)
  change(rowKeys.expectation, changes.expectations)
  change(rowKeys.incident, changes.incidents)
  change(rowKeys.incident_member, changes.members)
  change(rowKeys.outbox, changes.outbox)
  change(rowKeys.alert, changes.alerts)
  change(rowKeys.mark, changes.marks)
  change(rowKeys.operator, changes.operators)
  change(rowKeys.silence, changes.silences)
  change(rowKeys.replica, changes.replicas)
  for (const row of changes.incidentChanges) entries.set(rowKeys.incident_change(row), writeRow(row))
  for (const row of changes.audit) entries.set(rowKeys.audit(row), writeRow(row))
  for (const row of changes.incidentActs) entries.set(rowKeys.incident_act(row), writeRow(row))
  for (const cut of changes.storyCuts) {
    const story = tables.incidentChanges.get(cut.incident_id) ?? []
    for (const row of [...story, ...changes.incidentChanges])
      if (row.incident_id === cut.incident_id && isCut(row, cut))
        entries.set(rowKeys.incident_change(row), undefined)
  }
  for (const row of changes.removedAgents) entries.set(rowKeys.removed_registration(row), writeRow(row))
  for (const { registration_id, check_id } of changes.removedChecks) {
    for (const row of tables.history.values())
      if (row.registration_id === registration_id && row.check_id === check_id)
        entries.set(rowKeys.check_event(row), undefined)
  }
  const numbered = changes.history.map((row, index) => ({ ...row, seq: tables.lastSeq + index + 1 }))
  for (const row of numbered) entries.set(rowKeys.check_event(row), writeRow(row))
  const newest = numbered.at(-1)
  if (newest !== undefined) entries.set(rowKeys.sequence(), writeRow({ seq: newest.seq }))
  return entries
}

/** The entries that retention deletes. */
export const expiredEntries = (expired: ExpiredRows): Entries => {
  const keys = [
    ...expired.checks.map(rowKeys.check_state),
    ...expired.expectations.map(rowKeys.expectation),
    ...expired.registrations.map(rowKeys.removed_registration),
    ...expired.history.map(rowKeys.check_event),
    ...expired.outbox.map(rowKeys.outbox),
    ...expired.members.map(rowKeys.incident_member),
    ...expired.incidentChanges.map(rowKeys.incident_change),
    ...expired.incidentActs.map(rowKeys.incident_act),
    ...expired.alerts.map(rowKeys.alert),
    ...expired.incidents.map(rowKeys.incident),
    ...expired.audit.map(rowKeys.audit),
    ...expired.silences.map(rowKeys.silence),
  ]
  return new Map(keys.map((key) => [key, undefined]))
}

/** The tables that entries stand for. Throws if an entry is not one of ours. */
export const loadTables = async (
  entries: AsyncIterable<readonly [string, string]> | Iterable<readonly [string, string]>,
): Promise<MemoryTables> => {
  const rows = new Map<RowKind, Array<unknown>>()
  for await (const [key, text] of entries) {
    const { kind, row } = readRow(key, text)
    const ofKind = rows.get(kind)
    if (ofKind === undefined) rows.set(kind, [row])
    else ofKind.push(row)
  }
  // `changedEntries` wrote them from records of their kind.
  return tablesOf((kind) => (rows.get(kind) ?? []) as unknown as ReadonlyArray<never>)
}

const tablesOf = (rowsOf: <Kind extends RowKind>(kind: Kind) => ReadonlyArray<Rows[Kind]>): MemoryTables => {
  const added = <Kind extends RowKind>(kind: Kind): ReadonlyArray<Change<Rows[Kind]>> =>
    rowsOf(kind).map((after) => ({ before: undefined, after }))
  const tables = new MemoryTables()
  persistChanges(tables, {
    agents: added("agent"),
    keys: added("agent_key"),
    checks: added("check_state"),
    expectations: added("expectation"),
    incidents: added("incident"),
    members: added("incident_member"),
    outbox: added("outbox"),
    alerts: added("alert"),
    marks: added("mark"),
    operators: added("operator"),
    silences: added("silence"),
    replicas: added("replica"),
    incidentChanges: rowsOf("incident_change").toSorted((a, b) => a.seq - b.seq),
    incidentActs: rowsOf("incident_act").toSorted((a, b) => a.seq - b.seq),
    audit: rowsOf("audit"),
    storyCuts: [],
    removedChecks: [],
    removedAgents: rowsOf("removed_registration"),
    history: [],
  })
  // Not by persistChanges, which numbers rows anew.
  for (const row of rowsOf("check_event").toSorted((a, b) => a.seq - b.seq)) addResult(tables, row)
  for (const { seq } of rowsOf("sequence")) tables.lastSeq = seq
  for (const { name, value } of rowsOf("established")) tables.established.set(name, value)
  return tables
}
