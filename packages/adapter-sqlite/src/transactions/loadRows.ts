import type { AgentId, IncidentId } from "@tocsin/core/contract/Identifiers"
import type { IncidentRecord } from "@tocsin/core/incidents/IncidentRecord"
import type { RowRequest } from "@tocsin/core/engine/workspace/RowRequest"
import type { Workspace } from "@tocsin/core/engine/workspace/Workspace"
import type { Tables } from "../tables/makeTables.ts"
import type { StoredRows } from "./StoredRows.ts"

/** Brings the rows that a request names from the tables into a workspace; searches are `searchRows`'s. */
export const loadRows = (stored: StoredRows, workspace: Workspace, request: RowRequest): void => {
  const { tables, cache } = stored
  if (request.agents !== undefined) {
    for (const id of request.agents) workspace.agents.load(id, cache.agent(id))
  }
  loadKeys(tables, workspace, request)
  loadChecks(stored, workspace, request)
  loadExpectations(tables, workspace, request)
  loadIncidents(tables, workspace, request)
  loadMembers(tables, workspace, request)
  if (request.outboxItems !== undefined) {
    for (const id of request.outboxItems) workspace.outbox.load(id, tables.outbox.find(id))
  }
  if (request.alerts !== undefined) {
    for (const ref of request.alerts) workspace.alerts.load(ref, tables.alerts.find(ref))
  }
  for (const name of request.operators ?? []) workspace.operators.load(name, tables.operators.find(name))
  for (const id of request.silences ?? []) workspace.silences.load(id, tables.silences.find(id))
  if (request.replicas) workspace.loadReplicas(tables.replicas.all())
  if (request.mark) workspace.marks.load("service", tables.marks.find("service"))
  if (request.pendingAgents) workspace.loadPendingAgents(tables.agents.countPending())
}

const loadKeys = (tables: Tables, workspace: Workspace, request: RowRequest): void => {
  for (const hash of request.keys ?? []) workspace.keys.load(hash, tables.keys.find(hash))
  for (const agentId of request.keysOfAgents ?? []) {
    for (const key of tables.keys.ofAgent(agentId)) workspace.keys.load(key.key_hash, key)
    workspace.keysOfAgents.add(agentId)
  }
  for (const id of request.blacklist ?? []) {
    const key = tables.keys.findBlocked(id)
    workspace.blacklist.load(id, key && { id, key_hash: key.key_hash })
    if (key !== undefined) workspace.keys.load(key.key_hash, key)
  }
}

const loadChecks = (
  { tables, cache }: StoredRows,
  workspace: Workspace,
  { checks, history }: RowRequest,
): void => {
  const registrationOf = (agentId: AgentId) => workspace.agents.get(agentId)?.registration_id
  if (checks !== undefined) {
    const { agent_id } = checks
    const registration_id = registrationOf(agent_id)
    if (registration_id !== undefined) {
      for (const check_id of checks.check_ids) {
        const ref = { agent_id, registration_id, check_id }
        workspace.checks.load(ref, cache.check(ref))
      }
    }
  }
  if (history !== undefined) {
    const { agent_id, event_ids } = history
    const registration_id = registrationOf(agent_id)
    if (registration_id !== undefined) {
      const known = tables.history.known(agent_id, registration_id, event_ids)
      workspace.knownEvents.load(registration_id, event_ids, known)
    }
  }
}

const loadExpectations = (tables: Tables, workspace: Workspace, request: RowRequest): void => {
  const { expectations, expectationsOfAgents } = request
  if (expectations !== undefined) {
    const { agent_id } = expectations
    const registration_id = workspace.agents.get(agent_id)?.registration_id
    if (registration_id !== undefined) {
      for (const check_id of expectations.check_ids) {
        const ref = { agent_id, registration_id, check_id }
        workspace.expectations.load(ref, tables.expectations.find(ref))
      }
    }
  }
  for (const agentId of expectationsOfAgents ?? []) {
    const agent = workspace.agents.get(agentId)
    const rows = agent === undefined ? [] : tables.expectations.ofAgent(agentId, agent.registration_id)
    for (const row of rows) workspace.expectations.load(row, row)
    workspace.expectationsOfAgents.add(agentId)
  }
}

const loadIncidents = (tables: Tables, workspace: Workspace, request: RowRequest): void => {
  const load = (incident: IncidentRecord): void => {
    const { id } = incident
    workspace.loadIncident(incident, tables.outbox.ofIncident(id), tables.alerts.ofIncident(id))
  }
  for (const id of request.incidents ?? []) {
    const incident = tables.incidents.find(id)
    if (incident === undefined) workspace.incidents.load(id, undefined)
    else load(incident)
  }
  for (const ref of request.openIncidents ?? []) {
    const incident = tables.incidents.findOpen(ref)
    if (incident === undefined) workspace.openIncidents.load(ref, undefined)
    else load(incident)
  }
}

const loadMembers = (tables: Tables, workspace: Workspace, request: RowRequest): void => {
  for (const ref of request.members ?? []) workspace.members.load(ref, tables.members.find(ref))
  for (const agentId of request.membersOfAgents ?? []) {
    for (const member of tables.members.ofAgent(agentId)) workspace.members.load(member, member)
    workspace.membersOfAgents.add(agentId)
  }
  if (request.worstMembers !== undefined) loadWorst(tables, workspace, request.worstMembers)
}

const loadWorst = (
  tables: Tables,
  workspace: Workspace,
  { incident_id, limit }: { readonly incident_id: IncidentId; readonly limit: number },
): void => {
  // One more tells whether these are all.
  const found = tables.members.worst(incident_id, limit + 1)
  const worst = found.slice(0, limit)
  for (const member of worst) workspace.members.load(member, member)
  workspace.rankings.set(incident_id, { limit, floor: worst.at(-1), complete: found.length <= limit })
}
