import type { UnitOfWork, UnitOfWorkChanges } from "@tocsin/core/engine/unitOfWork/UnitOfWork"
import type { Tables } from "../tables/makeTables.ts"

/**
 * Writes what a transaction changed, and nothing else; incidents before the rows that refer to them. Returns what it wrote.
 */
export const persistChanges = (tables: Tables, unit: UnitOfWork): UnitOfWorkChanges => {
  const changes = unit.changes()
  for (const agent of changes.removedAgents) tables.removedRegistrations.add(agent)
  for (const change of changes.agents) tables.agents.write(change)
  for (const change of changes.keys) tables.keys.write(change)
  for (const change of changes.checks) tables.checks.write(change)
  for (const change of changes.expectations) tables.expectations.write(change)
  tables.incidents.write(changes.incidents)
  tables.members.write(changes.members)
  tables.outbox.write(changes.outbox)
  for (const change of changes.alerts) tables.alerts.write(change)
  for (const { after } of changes.serviceHeartbeats)
    if (after !== undefined) tables.serviceHeartbeats.write(after)
  for (const change of changes.operators) tables.operators.write(change)
  for (const change of changes.replicas) tables.replicas.write(change)
  tables.audit.add(changes.audit)
  for (const change of changes.silences) tables.silences.write(change)
  tables.incidentChanges.add(changes.incidentChanges)
  tables.incidentLog.add(changes.incidentLog)
  for (const cut of changes.timelineCuts) tables.incidentChanges.cut(cut)
  for (const check of changes.removedChecks) tables.history.removeCheck(check)
  tables.history.add(changes.history)
  return changes
}
