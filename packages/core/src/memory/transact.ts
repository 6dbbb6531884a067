import type { IncidentId } from "../contract/Identifiers.ts"
import type { Instant } from "../contract/Instant.ts"
import { type Command, decideSync } from "../engine/workspace/Decision.ts"
import type { RowRequest } from "../engine/workspace/RowRequest.ts"
import { Workspace, type WorkspaceChanges } from "../engine/workspace/Workspace.ts"
import { compareMembers } from "../incidents/MemberRecord.ts"
import { alertKey, type MemoryTables, outboxOf } from "./MemoryTables.ts"
import { persistChanges } from "./persistChanges.ts"
import { search } from "./search.ts"

/** The reply of a command, and its changes. */
export interface Transacted<A> {
  readonly reply: A
  readonly changes: WorkspaceChanges
}

/** Runs a command on tables in memory. If a decision throws, nothing changes. */
export const transact = <A>(tables: MemoryTables, command: Command<A>, now: Instant): Transacted<A> => {
  const workspace = new Workspace()
  const reply = decideSync(command(workspace, now), (request) => loadRows(tables, workspace, request, now))
  const changes = workspace.changes()
  persistChanges(tables, changes)
  return { reply, changes }
}

const NONE: ReadonlyArray<never> = []

/** Loads the rows of a request into a workspace. */
export const loadRows = (
  tables: MemoryTables,
  workspace: Workspace,
  request: RowRequest,
  now: Instant,
): void => {
  for (const id of request.agents ?? NONE) workspace.agents.load(id, tables.agents.get(id))
  loadKeys(tables, workspace, request)
  loadChecks(tables, workspace, request)
  loadExpectations(tables, workspace, request)
  loadIncidents(tables, workspace, request)
  loadMembers(tables, workspace, request)
  loadOutbox(tables, workspace, request)
  search(tables, workspace, request, now)
  for (const name of request.operators ?? NONE) workspace.operators.load(name, tables.operators.get(name))
  for (const id of request.silences ?? NONE) workspace.silences.load(id, tables.silences.get(id))
  if (request.replicas) workspace.loadReplicas(tables.replicas.values())
  if (request.mark) workspace.marks.load("service", tables.mark)
  if (request.pendingAgents) workspace.loadPendingAgents(tables.pendingAgents)
}

const loadKeys = (tables: MemoryTables, workspace: Workspace, request: RowRequest): void => {
  for (const hash of request.keys ?? NONE) workspace.keys.load(hash, tables.keys.get(hash))
  for (const agentId of request.keysOfAgents ?? NONE) {
    for (const hash of tables.keysOfAgents.get(agentId) ?? NONE)
      workspace.keys.load(hash, tables.keys.get(hash))
    workspace.keysOfAgents.add(agentId)
  }
  for (const id of request.blacklist ?? NONE) {
    const key_hash = tables.blacklist.get(id)
    workspace.blacklist.load(id, key_hash && { id, key_hash })
    if (key_hash !== undefined) workspace.keys.load(key_hash, tables.keys.get(key_hash))
  }
}

const loadChecks = (tables: MemoryTables, workspace: Workspace, { checks, history }: RowRequest): void => {
  const registrationOf = (agentId: Parameters<Workspace["agents"]["get"]>[0]) =>
    workspace.agents.get(agentId)?.registration_id
  const checksRegistration = checks && registrationOf(checks.agent_id)
  if (checks !== undefined && checksRegistration !== undefined) {
    const found = tables.checks.get(checksRegistration)
    for (const check_id of checks.check_ids) {
      const ref = { agent_id: checks.agent_id, registration_id: checksRegistration, check_id }
      workspace.checks.load(ref, found?.get(check_id))
    }
  }
  const historyRegistration = history && registrationOf(history.agent_id)
  if (history !== undefined && historyRegistration !== undefined) {
    const known = tables.knownEvents.get(historyRegistration) ?? new Map()
    workspace.knownEvents.load(historyRegistration, history.event_ids, known)
  }
}

const loadExpectations = (tables: MemoryTables, workspace: Workspace, request: RowRequest): void => {
  const { expectations, expectationsOfAgents = NONE } = request
  const agent = expectations && workspace.agents.get(expectations.agent_id)
  if (expectations !== undefined && agent !== undefined) {
    const { agent_id, registration_id } = agent
    const found = tables.expectations.get(registration_id)
    for (const check_id of expectations.check_ids)
      workspace.expectations.load({ agent_id, registration_id, check_id }, found?.get(check_id))
  }
  for (const agentId of expectationsOfAgents) {
    const registrationId = workspace.agents.get(agentId)?.registration_id ?? ""
    for (const row of tables.expectations.get(registrationId)?.values() ?? NONE)
      workspace.expectations.load(row, row)
    workspace.expectationsOfAgents.add(agentId)
  }
}

const loadOutbox = (tables: MemoryTables, workspace: Workspace, request: RowRequest): void => {
  for (const id of request.outboxItems ?? NONE) workspace.outbox.load(id, tables.outbox.get(id))
  for (const ref of request.alerts ?? NONE) {
    workspace.alerts.load(ref, tables.alerts.get(ref.incident_id)?.get(alertKey(ref)))
  }
}

const loadIncidents = (tables: MemoryTables, workspace: Workspace, request: RowRequest): void => {
  const load = (id: IncidentId): void => {
    const incident = tables.incidents.get(id)
    if (incident === undefined) return workspace.incidents.load(id, undefined)
    const items = outboxOf(tables, id).filter((item) => item.state !== "discarded")
    workspace.loadIncident(incident, items, tables.alerts.get(id)?.values() ?? NONE)
  }
  for (const id of request.incidents ?? NONE) load(id)
  for (const ref of request.openIncidents ?? NONE) {
    const id = tables.openIncidents[ref.kind].get(ref.incident_key)
    if (id === undefined) workspace.openIncidents.load(ref, undefined)
    else load(id)
  }
}

const loadMembers = (tables: MemoryTables, workspace: Workspace, request: RowRequest): void => {
  for (const ref of request.members ?? NONE) {
    workspace.members.load(ref, tables.members.get(ref.incident_id)?.get(`${ref.agent_id}/${ref.check_id}`))
  }
  for (const agentId of request.membersOfAgents ?? NONE) {
    for (const member of tables.membershipsOfAgents.get(agentId) ?? NONE)
      workspace.members.load(member, member)
    workspace.membersOfAgents.add(agentId)
  }
  if (request.worstMembers === undefined) return
  const { incident_id, limit } = request.worstMembers
  const present = Array.from(tables.members.get(incident_id)?.values() ?? NONE).filter(
    (member) => member.left_at === undefined,
  )
  const worst = present.toSorted(compareMembers).slice(0, limit)
  for (const member of worst) workspace.members.load(member, member)
  workspace.rankings.set(incident_id, {
    limit,
    floor: worst.at(-1),
    complete: worst.length === present.length,
  })
}
