import type { AgentId } from "@tocsin/contract/Identifiers"
import { type Loaders, loadParts } from "@tocsin/core/engine/workspace/loadParts"
import type { RowRequest } from "@tocsin/core/engine/workspace/RowRequest"
import type { IncidentRecord } from "@tocsin/core/model/IncidentRecord"
import { type Reading, SEARCHES } from "./searchRows.ts"

/** Brings the rows that a request names or searches from the tables into a workspace. */
export const loadRows = (reading: Reading, request: RowRequest): void => loadParts(LOADERS, reading, request)

const registrationOf = ({ workspace }: Reading, agentId: AgentId) =>
  workspace.agents.get(agentId)?.registration_id

const loadIncident = ({ rows: { tables }, workspace }: Reading, incident: IncidentRecord): void => {
  const { id } = incident
  workspace.loadIncident(incident, tables.outbox.ofIncident(id), tables.alerts.ofIncident(id))
}

const LOADERS: Loaders<Reading> = {
  ...SEARCHES,
  // One transaction at a time has the file to itself.
  passesHeld: () => {},
  agents: ({ rows: { cache }, workspace }, ids) => {
    for (const id of ids) workspace.agents.load(id, cache.agent(id))
  },
  keys: ({ rows: { tables }, workspace }, hashes) => {
    for (const hash of hashes) workspace.keys.load(hash, tables.keys.find(hash))
  },
  keysOfAgents: ({ rows: { tables }, workspace }, ids) => {
    for (const id of ids) {
      for (const key of tables.keys.ofAgent(id)) workspace.keys.load(key.key_hash, key)
      workspace.keysOfAgents.add(id)
    }
  },
  blacklist: ({ rows: { tables }, workspace }, ids) => {
    for (const id of ids) {
      const key = tables.keys.findBlocked(id)
      workspace.blacklist.load(id, key && { id, key_hash: key.key_hash })
      if (key !== undefined) workspace.keys.load(key.key_hash, key)
    }
  },
  checks: (reading, { agent_id, check_ids }) => {
    const registration_id = registrationOf(reading, agent_id)
    if (registration_id === undefined) return
    const { rows, workspace } = reading
    for (const check_id of check_ids) {
      const ref = { agent_id, registration_id, check_id }
      workspace.checks.load(ref, rows.cache.check(ref))
    }
  },
  history: (reading, { agent_id, event_ids }) => {
    const registration_id = registrationOf(reading, agent_id)
    if (registration_id === undefined) return
    const known = reading.rows.tables.history.known(agent_id, registration_id, event_ids)
    reading.workspace.knownEvents.load(registration_id, event_ids, known)
  },
  expectations: (reading, { agent_id, check_ids }) => {
    const registration_id = registrationOf(reading, agent_id)
    if (registration_id === undefined) return
    const { rows, workspace } = reading
    for (const check_id of check_ids) {
      const ref = { agent_id, registration_id, check_id }
      workspace.expectations.load(ref, rows.tables.expectations.find(ref))
    }
  },
  expectationsOfAgents: (reading, ids) => {
    const { rows, workspace } = reading
    for (const id of ids) {
      const registration_id = registrationOf(reading, id)
      const found = registration_id === undefined ? [] : rows.tables.expectations.ofAgent(id, registration_id)
      for (const row of found) workspace.expectations.load(row, row)
      workspace.expectationsOfAgents.add(id)
    }
  },
  incidents: (reading, ids) => {
    for (const id of ids) {
      const incident = reading.rows.tables.incidents.find(id)
      if (incident === undefined) reading.workspace.incidents.load(id, undefined)
      else loadIncident(reading, incident)
    }
  },
  openIncidents: (reading, refs) => {
    for (const ref of refs) {
      const incident = reading.rows.tables.incidents.findOpen(ref)
      if (incident === undefined) reading.workspace.openIncidents.load(ref, undefined)
      else loadIncident(reading, incident)
    }
  },
  members: ({ rows: { tables }, workspace }, refs) => {
    for (const ref of refs) workspace.members.load(ref, tables.members.find(ref))
  },
  membersOfAgents: ({ rows: { tables }, workspace }, ids) => {
    for (const id of ids) {
      for (const member of tables.members.ofAgent(id)) workspace.members.load(member, member)
      workspace.membersOfAgents.add(id)
    }
  },
  worstMembers: ({ rows: { tables }, workspace }, { incident_id, limit }) => {
    // One more tells whether these are all.
    const found = tables.members.worst(incident_id, limit + 1)
    const worst = found.slice(0, limit)
    for (const member of worst) workspace.members.load(member, member)
    workspace.rankings.set(incident_id, { limit, floor: worst.at(-1), complete: found.length <= limit })
  },
  outboxItems: ({ rows: { tables }, workspace }, ids) => {
    for (const id of ids) workspace.outbox.load(id, tables.outbox.find(id))
  },
  alerts: ({ rows: { tables }, workspace }, refs) => {
    for (const ref of refs) workspace.alerts.load(ref, tables.alerts.find(ref))
  },
  operators: ({ rows: { tables }, workspace }, names) => {
    for (const name of names) workspace.operators.load(name, tables.operators.find(name))
  },
  silences: ({ rows: { tables }, workspace }, ids) => {
    for (const id of ids) workspace.silences.load(id, tables.silences.find(id))
  },
  replicas: ({ rows: { tables }, workspace }) => workspace.loadReplicas(tables.replicas.all()),
  mark: ({ rows: { tables }, workspace }) => workspace.marks.load("service", tables.marks.find("service")),
  pendingAgents: ({ rows: { tables }, workspace }) =>
    workspace.loadPendingAgents(tables.agents.countPending()),
}
