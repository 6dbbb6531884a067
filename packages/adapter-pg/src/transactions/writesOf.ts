import type { CheckRef } from "@tocsin/core/checks/CheckRecord"
import type { Change } from "@tocsin/core/workspace/Table"
import type { WorkspaceChanges } from "@tocsin/core/workspace/Workspace"
import type { PgStatement } from "../client/PgConnection.ts"
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

/** One statement with its rows, which `JSON.stringify` turns into its parameter. */
export interface Write {
  readonly statement: PgStatement
  readonly rows: ReadonlyArray<object>
  /** Whether it writes each of these rows once, or any number of rows. */
  readonly writes: "each" | "any"
}

/** The statements that write what a transaction changed, in the order in which every transaction runs them. */
export const writesOf = (changes: WorkspaceChanges): ReadonlyArray<Write> => [
  ...agentWrites(changes),
  ...checkWrites(changes),
  ...incidentWrites(changes),
  ...deliveryWrites(changes),
  ...historyWrites(changes),
]

const each = (statement: PgStatement, rows: ReadonlyArray<object>): Write => ({
  statement,
  rows,
  writes: "each",
})

const agentWrites = (changes: WorkspaceChanges): ReadonlyArray<Write> => {
  const agent = sorted(changes.agents)
  const key = sorted(changes.keys)
  const removed = changes.removedAgents.map(({ agent_id, registration_id }) => ({
    agent_id,
    registration_id,
  }))
  const deletedAgents = agent.deleted.map(({ agent_id }) => ({ agent_id }))
  const deletedKeys = key.deleted.map(({ key_hash }) => ({ key_hash }))
  return [
    each(agents.deleteAgents, deletedAgents),
    each(agents.updateAgents, agent.updated.map(agents.encodeAgent)),
    each(agents.insertAgents, agent.inserted.map(agents.encodeAgent)),
    each(agents.insertRemovedRegistrations, removed),
    each(keys.deleteKeys, deletedKeys),
    each(keys.updateKeys, key.updated.map(keys.encodeKey)),
    each(keys.insertKeys, key.inserted.map(keys.encodeKey)),
  ]
}

const checkRef = ({ agent_id, registration_id, check_id }: CheckRef): CheckRef => ({
  agent_id,
  registration_id,
  check_id,
})

const checkWrites = (changes: WorkspaceChanges): ReadonlyArray<Write> => {
  const check = sorted(changes.checks)
  return [
    each(checks.deleteChecks, check.deleted.map(checkRef)),
    each(checks.updateChecks, check.updated.map(checks.encodeCheck)),
    each(checks.upsertChecks, check.inserted.map(checks.encodeCheck)),
  ]
}

const incidentWrites = (changes: WorkspaceChanges): ReadonlyArray<Write> => {
  const incident = sorted(changes.incidents)
  const memberships = changes.members.flatMap(({ after }) => after ?? [])
  return [
    // One transaction may resolve an incident and open another of the same key, of which only one may be open.
    each(incidents.updateIncidents, incident.updated.map(incidents.encodeIncident)),
    each(incidents.upsertIncidents, incident.inserted.map(incidents.encodeIncident)),
    each(members.upsertMembers, memberships.map(members.encodeMember)),
    each(stories.insertIncidentChanges, changes.incidentChanges.map(stories.encodeIncidentChange)),
  ]
}

const deliveryWrites = (changes: WorkspaceChanges): ReadonlyArray<Write> => {
  const item = sorted(changes.outbox)
  const alert = sorted(changes.alerts)
  const mark = sorted(changes.marks)
  const deletedAlerts = alert.deleted.map(({ incident_id, severity }) => ({ incident_id, severity }))
  return [
    each(outbox.updateOutbox, item.updated.map(outbox.encodeOutbox)),
    each(outbox.upsertOutbox, item.inserted.map(outbox.encodeOutbox)),
    each(alerts.deleteAlerts, deletedAlerts),
    each(alerts.upsertAlerts, [...alert.updated, ...alert.inserted].map(alerts.encodeAlert)),
    each(marks.updateMarks, mark.updated.map(marks.encodeMark)),
    each(marks.insertMarks, mark.inserted.map(marks.encodeMark)),
  ]
}

const historyWrites = ({ history: stored, removedChecks }: WorkspaceChanges): ReadonlyArray<Write> => [
  each(history.insertHistory, stored.map(history.encodeHistory)),
  { statement: history.deleteHistoryOfChecks, rows: removedChecks.map(checkRef), writes: "any" },
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
