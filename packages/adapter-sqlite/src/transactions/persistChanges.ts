import type { UnitOfWork, UnitOfWorkChanges } from "@tocsin/core/kernel/unitOfWork/UnitOfWork"
import type { Change } from "@tocsin/core/kernel/unitOfWork/Table"
import { type KeyedName, keyedNames, type KeyedRows } from "@tocsin/core/lists/StoredTables"
import type { KeyedTable } from "../tables/makeTable.ts"
import type { Tables } from "../tables/makeTables.ts"

/**
 * Writes what a transaction changed, and nothing else; incidents before the rows that refer to them. Returns what it wrote.
 */
export const persistChanges = (tables: Tables, unit: UnitOfWork): UnitOfWorkChanges => {
  const changes = unit.changes()
  for (const after of changes.removed_registration)
    tables.removedRegistrations.write({ before: undefined, after })
  for (const change of changes.agent) tables.agents.write(change)
  for (const change of changes.check_state) tables.checks.write(change)
  tables.incidents.write(changes.incident)
  for (const name of keyedNames) writeRows(tables.keyed, name, changes)
  tables.audit.add(changes.audit)
  tables.incidentChanges.add(changes.incident_change)
  tables.incidentLog.add(changes.incident_log)
  for (const cut of changes.timelineCuts) tables.incidentChanges.cut(cut)
  for (const check of changes.removedChecks) tables.history.removeCheck(check)
  tables.history.add(changes.check_event)
  return changes
}

const writeRows = <N extends KeyedName>(
  tables: { readonly [Name in N]: KeyedTable<Name> },
  name: N,
  changes: { readonly [Name in N]: ReadonlyArray<Change<KeyedRows[Name]>> },
): void => {
  if (changes[name].length > 0) tables[name].writeAll(changes[name])
}
