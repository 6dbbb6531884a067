import type { MemberRef } from "@tocsin/core/incidents/MemberRecord"
import type { Change } from "@tocsin/core/engine/workspace/Table"
import type { WorkspaceChanges } from "@tocsin/core/engine/workspace/Workspace"
import * as agents from "../tables/AgentTable.ts"
import * as keys from "../tables/AgentKeyTable.ts"
import * as alerts from "../tables/AlertTable.ts"
import * as checks from "../tables/CheckTable.ts"
import * as history from "../tables/HistoryTable.ts"
import * as stories from "../tables/IncidentChangeTable.ts"
import * as incidents from "../tables/IncidentTable.ts"
import * as marks from "../tables/MarkTable.ts"
import * as members from "../tables/MemberTable.ts"
import * as outbox from "../tables/OutboxTable.ts"
import type { RowStatement } from "../tables/TableShape.ts"

/** One statement with its rows, of which it takes those columns that it knows. */
export interface Write {
  readonly statement: RowStatement
  readonly rows: ReadonlyArray<object>
  /** Whether it writes each of these rows once, or any number of rows. */
  readonly writes: "each" | "any"
}

/**
 * How a row is written that counts as new: over any that is there, or as one that must not be there yet, which costs an
 * index less and fails otherwise.
 */
export type NewRows = "upserted" | "inserted"

/** The statements that write what a transaction changed, in the order in which every transaction runs them. */
export const writesOf = (changes: WorkspaceChanges, newRows: NewRows): ReadonlyArray<Write> => [
  ...agentWrites(changes),
  ...checkWrites(changes, newRows),
  ...incidentWrites(changes, newRows),
  ...deliveryWrites(changes, newRows),
  ...historyWrites(changes),
]

const each = (statement: RowStatement, rows: ReadonlyArray<object>): Write => ({
  statement,
  rows,
  writes: "each",
})

const agentWrites = (changes: WorkspaceChanges): ReadonlyArray<Write> => {
  const agent = sorted(changes.agents)
  const key = sorted(changes.keys)
  return [
    each(agents.deleteAgents, agent.deleted),
    each(agents.updateAgents, agent.updated),
    each(agents.insertAgents, agent.inserted),
    each(agents.insertRemovedRegistrations, changes.removedAgents),
    each(keys.deleteKeys, key.deleted),
    each(keys.updateKeys, key.updated),
    each(keys.insertKeys, key.inserted),
  ]
}

const checkWrites = (changes: WorkspaceChanges, newRows: NewRows): ReadonlyArray<Write> => {
  const check = sorted(changes.checks)
  return [
    each(checks.deleteChecks, check.deleted),
    each(checks.updateChecks, check.updated),
    each(newRows === "inserted" ? checks.insertChecks : checks.upsertChecks, check.inserted),
  ]
}

const incidentWrites = (changes: WorkspaceChanges, newRows: NewRows): ReadonlyArray<Write> => {
  const incident = sorted(changes.incidents)
  const member = sorted(changes.members)
  // A check may join again an incident that it has left; one that is new has no members yet.
  const newIncidents = new Set(newRows === "inserted" ? incident.inserted.map(({ id }) => id) : [])
  const isFirst = ({ incident_id }: MemberRef) => newIncidents.has(incident_id)
  return [
    // One transaction may resolve an incident and open another of the same key, of which only one may be open.
    each(incidents.updateIncidents, incident.updated),
    each(newRows === "inserted" ? incidents.insertIncidents : incidents.upsertIncidents, incident.inserted),
    each(members.updateMembers, member.updated),
    each(members.insertMembers, member.inserted.filter(isFirst)),
    each(
      members.upsertMembers,
      member.inserted.filter((row) => !isFirst(row)),
    ),
    each(stories.insertIncidentChanges, changes.incidentChanges),
    { statement: stories.cutStories, rows: changes.storyCuts, writes: "any" },
  ]
}

const deliveryWrites = (changes: WorkspaceChanges, newRows: NewRows): ReadonlyArray<Write> => {
  const item = sorted(changes.outbox)
  const alert = sorted(changes.alerts)
  const mark = sorted(changes.marks)
  return [
    each(outbox.updateOutbox, item.updated),
    each(newRows === "inserted" ? outbox.insertOutbox : outbox.upsertOutbox, item.inserted),
    each(alerts.deleteAlerts, alert.deleted),
    each(alerts.upsertAlerts, [...alert.updated, ...alert.inserted]),
    each(marks.updateMarks, mark.updated),
    each(marks.insertMarks, mark.inserted),
  ]
}

const historyWrites = ({ history: stored, removedChecks }: WorkspaceChanges): ReadonlyArray<Write> => [
  // A check that was removed may have been reported again since.
  { statement: history.deleteHistoryOfChecks, rows: removedChecks, writes: "any" },
  each(history.insertHistory, stored),
]

/** Changes by what becomes of their rows. */
const sorted = <Row>(changes: ReadonlyArray<Change<Row>>) => {
  const inserted: Array<Row> = []
  const updated: Array<Row> = []
  const deleted: Array<Row> = []
  for (const { before, after } of changes) {
    if (after !== undefined) (before === undefined ? inserted : updated).push(after)
    else if (before !== undefined) deleted.push(before)
  }
  return { inserted, updated, deleted }
}
