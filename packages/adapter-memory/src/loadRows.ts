import type { AgentId, IncidentId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import { type Loaders, loadParts } from "@tocsin/core/engine/workspace/loadParts"
import type { RowRequest } from "@tocsin/core/engine/workspace/RowRequest"
import type { Workspace } from "@tocsin/core/engine/workspace/Workspace"
import { alertKey, memberKey, type MemoryTables, outboxOf } from "./MemoryTables.ts"
import { firstMembers, type Reading, SEARCHES } from "./search.ts"

const NONE: ReadonlyArray<never> = []

/** Loads the rows of a request into a workspace. */
export const loadRows = (
  tables: MemoryTables,
  workspace: Workspace,
  request: RowRequest,
  now: Instant,
): void => {
  loadParts(LOADERS, { tables, workspace, now }, request)
}

const registrationOf = ({ workspace }: Reading, agentId: AgentId) =>
  workspace.agents.get(agentId)?.registration_id

const loadIncident = ({ tables, workspace }: Reading, id: IncidentId): void => {
  const incident = tables.incidents.get(id)
  if (incident === undefined) return workspace.incidents.load(id, undefined)
  const items = outboxOf(tables, id).filter((item) => item.state !== "discarded")
  workspace.loadIncident(incident, items, tables.alerts.get(id)?.values() ?? NONE)
}

const LOADERS: Loaders<Reading> = {
  ...SEARCHES,
  // Nothing waits for rows in memory.
  passesHeld: () => {},
  agents: ({ tables, workspace }, ids) => {
    for (const id of ids) workspace.agents.load(id, tables.agents.get(id))
  },
  keys: ({ tables, workspace }, hashes) => {
    for (const hash of hashes) workspace.keys.load(hash, tables.keys.get(hash))
  },
  keysOfAgents: ({ tables, workspace }, ids) => {
    for (const id of ids) {
      for (const hash of tables.keysOfAgents.get(id) ?? NONE) workspace.keys.load(hash, tables.keys.get(hash))
      workspace.keysOfAgents.add(id)
    }
  },
  blacklist: ({ tables, workspace }, ids) => {
    for (const id of ids) {
      const key_hash = tables.blacklist.get(id)
      workspace.blacklist.load(id, key_hash && { id, key_hash })
      if (key_hash !== undefined) workspace.keys.load(key_hash, tables.keys.get(key_hash))
    }
  },
  checks: (reading, { agent_id, check_ids }) => {
    const registration_id = registrationOf(reading, agent_id)
    if (registration_id === undefined) return
    const found = reading.tables.checks.get(registration_id)
    for (const check_id of check_ids)
      reading.workspace.checks.load({ agent_id, registration_id, check_id }, found?.get(check_id))
  },
  history: (reading, { agent_id, event_ids }) => {
    const registration_id = registrationOf(reading, agent_id)
    if (registration_id === undefined) return
    const known = reading.tables.knownEvents.get(registration_id) ?? new Map()
    reading.workspace.knownEvents.load(registration_id, event_ids, known)
  },
  expectations: (reading, { agent_id, check_ids }) => {
    const registration_id = registrationOf(reading, agent_id)
    if (registration_id === undefined) return
    const found = reading.tables.expectations.get(registration_id)
    for (const check_id of check_ids)
      reading.workspace.expectations.load({ agent_id, registration_id, check_id }, found?.get(check_id))
  },
  expectationsOfAgents: (reading, ids) => {
    const { tables, workspace } = reading
    for (const id of ids) {
      for (const row of tables.expectations.get(registrationOf(reading, id) ?? "")?.values() ?? NONE)
        workspace.expectations.load(row, row)
      workspace.expectationsOfAgents.add(id)
    }
  },
  incidents: (reading, ids) => {
    for (const id of ids) loadIncident(reading, id)
  },
  openIncidents: (reading, refs) => {
    for (const ref of refs) {
      const id = reading.tables.openIncidents[ref.kind].get(ref.incident_key)
      if (id === undefined) reading.workspace.openIncidents.load(ref, undefined)
      else loadIncident(reading, id)
    }
  },
  members: ({ tables, workspace }, refs) => {
    for (const ref of refs) {
      const ofIncident = tables.members.get(ref.incident_id)
      workspace.members.load(ref, ofIncident?.get(memberKey(ref)))
    }
  },
  membersOfAgents: ({ tables, workspace }, ids) => {
    for (const id of ids) {
      for (const member of tables.membershipsOfAgents.get(id) ?? NONE) workspace.members.load(member, member)
      workspace.membersOfAgents.add(id)
    }
  },
  worstMembers: ({ tables, workspace }, { incident_id, limit }) => {
    const first = firstMembers(tables, incident_id, limit + 1)
    const worst = first.slice(0, limit)
    for (const member of worst) workspace.members.load(member, member)
    const complete = worst.length === first.length
    workspace.rankings.set(incident_id, { limit, floor: worst.at(-1), complete })
  },
  outboxItems: ({ tables, workspace }, ids) => {
    for (const id of ids) workspace.outbox.load(id, tables.outbox.get(id))
  },
  alerts: ({ tables, workspace }, refs) => {
    for (const ref of refs) workspace.alerts.load(ref, tables.alerts.get(ref.incident_id)?.get(alertKey(ref)))
  },
  operators: ({ tables, workspace }, names) => {
    for (const name of names) workspace.operators.load(name, tables.operators.get(name))
  },
  silences: ({ tables, workspace }, ids) => {
    for (const id of ids) workspace.silences.load(id, tables.silences.get(id))
  },
  replicas: ({ tables, workspace }) => workspace.loadReplicas(tables.replicas.values()),
  mark: ({ tables, workspace }) => workspace.marks.load("service", tables.mark),
  pendingAgents: ({ tables, workspace }) => workspace.loadPendingAgents(tables.pendingAgents),
}
