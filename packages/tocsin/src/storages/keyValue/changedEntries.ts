import { isCut } from "@tocsin/core/incidents/IncidentRecord"
import type { ExpiredRows } from "@tocsin/core/memory/expire"
import type { MemoryTables } from "@tocsin/core/memory/MemoryTables"
import type { Change } from "@tocsin/core/engine/workspace/Table"
import type { WorkspaceChanges } from "@tocsin/core/engine/workspace/Workspace"
import type { Entries } from "./KeyValueStore.ts"
import { rowKeys } from "./rowKeys.ts"
import { writeRow } from "./rowText.ts"

/** What a transaction changed, as entries. `tables` are as they were before it. */
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
  change(rowKeys.incident, changes.incidents)
  change(rowKeys.incident_member, changes.members)
  change(rowKeys.outbox, changes.outbox)
  change(rowKeys.alert, changes.alerts)
  change(rowKeys.mark, changes.marks)
  for (const row of changes.incidentChanges) entries.set(rowKeys.incident_change(row), writeRow(row))
  for (const cut of changes.storyCuts) {
    const story = tables.incidentChanges.get(cut.incident_id) ?? []
    for (const row of [...story, ...changes.incidentChanges])
      if (row.incident_id === cut.incident_id && isCut(row, cut))
        entries.set(rowKeys.incident_change(row), undefined)
  }
  for (const row of changes.removedAgents) entries.set(rowKeys.removed_registration(row), writeRow(row))
  changeHistory(tables, changes, entries)
  return entries
}

/** What retention removes, as entries. */
export const expiredEntries = (expired: ExpiredRows): Entries => {
  const keys = [
    ...expired.checks.map(rowKeys.check_state),
    ...expired.registrations.map(rowKeys.removed_registration),
    ...expired.history.map(rowKeys.check_event),
    ...expired.outbox.map(rowKeys.outbox),
    ...expired.members.map(rowKeys.incident_member),
    ...expired.incidentChanges.map(rowKeys.incident_change),
    ...expired.alerts.map(rowKeys.alert),
    ...expired.incidents.map(rowKeys.incident),
  ]
  return new Map(keys.map((key) => [key, undefined]))
}

const changeHistory = (
  tables: MemoryTables,
  { history, removedChecks }: WorkspaceChanges,
  entries: Map<string, string | undefined>,
): void => {
  for (const check of removedChecks) {
    for (const row of tables.history.values()) {
      const isOfCheck = row.registration_id === check.registration_id && row.check_id === check.check_id
      if (isOfCheck) entries.set(rowKeys.check_event(row), undefined)
    }
  }
  let seq = tables.lastSeq
  for (const row of history) {
    seq += 1
    entries.set(rowKeys.check_event({ seq }), writeRow({ ...row, seq }))
  }
  if (history.length > 0) entries.set(rowKeys.sequence(), writeRow({ seq }))
}
