import type { Decision } from "./Decision.ts"
import type { RowRequest } from "./RowRequest.ts"
import type { Workspace } from "./Workspace.ts"

/** Searches are never cached: yield the request itself. */
type Searches =
  | "claimableOutbox"
  | "heldOutbox"
  | "dueIncidents"
  | "incidentsToRead"
  | "loudMembers"
  | "openings"
  | "silencesInForce"
  | "unendedSilences"
  | "unclaimedOutbox"
  | "claimableAlerts"
  | "idlePendingAgents"
  | "passesHeld"

/** Requests the rows that the workspace does not have yet, if any. */
export function* ensure(workspace: Workspace, request: Omit<RowRequest, Searches>): Decision<void> {
  const missing = missingFrom(workspace, request)
  if (Object.values(missing).some((part) => part !== undefined)) yield missing
}

type Missing = { readonly [Part in keyof RowRequest]?: RowRequest[Part] | undefined }

const unless = <Id>(isLoaded: (id: Id) => boolean, ids: ReadonlyArray<Id> | undefined) => {
  const missing = ids?.filter((id) => !isLoaded(id))
  return missing === undefined || missing.length === 0 ? undefined : missing
}

const distinct = <Id>(ids: ReadonlyArray<Id> | undefined) => ids && Array.from(new Set(ids))

const missingChecks = (
  workspace: Workspace,
  request: NonNullable<RowRequest["checks"]>,
): RowRequest["checks"] => {
  const { agent_id } = request
  if (!workspace.agents.isLoaded(agent_id)) return request
  const agent = workspace.agents.get(agent_id)
  if (agent === undefined) return undefined
  const { registration_id } = agent
  const check_ids = unless(
    (check_id) => workspace.checks.isLoaded({ agent_id, registration_id, check_id }),
    request.check_ids,
  )
  return check_ids && { agent_id, check_ids }
}

const missingExpectations = (
  workspace: Workspace,
  request: NonNullable<RowRequest["expectations"]>,
): RowRequest["expectations"] => {
  const { agent_id } = request
  const agent = workspace.agents.isLoaded(agent_id) ? workspace.agents.get(agent_id) : undefined
  if (agent === undefined) return undefined
  const { registration_id } = agent
  const check_ids = unless(
    (check_id) => workspace.expectations.isLoaded({ agent_id, registration_id, check_id }),
    request.check_ids,
  )
  return check_ids && { agent_id, check_ids }
}

const missingHistory = (
  workspace: Workspace,
  request: NonNullable<RowRequest["history"]>,
): RowRequest["history"] => {
  const agent = workspace.agents.get(request.agent_id)
  if (agent === undefined) return undefined
  const event_ids = unless(
    (id) => workspace.knownEvents.isLoaded(agent.registration_id, id),
    request.event_ids,
  )
  return event_ids && { agent_id: request.agent_id, event_ids }
}

const missingRanking = (
  workspace: Workspace,
  request: NonNullable<RowRequest["worstMembers"]>,
): RowRequest["worstMembers"] => {
  const loaded = workspace.rankings.get(request.incident_id)
  return loaded !== undefined && (loaded.complete || loaded.limit >= request.limit) ? undefined : request
}

const missingFrom = (workspace: Workspace, request: Omit<RowRequest, Searches>): RowRequest => {
  const missing: Missing = {
    agents: unless((id) => workspace.agents.isLoaded(id), request.agents),
    keys: unless((id) => workspace.keys.isLoaded(id), request.keys),
    keysOfAgents: unless((id) => workspace.keysOfAgents.has(id), request.keysOfAgents),
    blacklist: unless((id) => workspace.blacklist.isLoaded(id), request.blacklist),
    checks: request.checks && missingChecks(workspace, request.checks),
    expectations: request.expectations && missingExpectations(workspace, request.expectations),
    expectationsOfAgents: unless(
      (id) => workspace.expectationsOfAgents.has(id),
      request.expectationsOfAgents,
    ),
    history: request.history && missingHistory(workspace, request.history),
    // Callers name rows once, except incidents, which many checks share.
    incidents: distinct(unless((id) => workspace.incidents.isLoaded(id), request.incidents)),
    openIncidents: unless((ref) => workspace.openIncidents.isLoaded(ref), request.openIncidents),
    members: unless((ref) => workspace.members.isLoaded(ref), request.members),
    membersOfAgents: unless((id) => workspace.membersOfAgents.has(id), request.membersOfAgents),
    worstMembers: request.worstMembers && missingRanking(workspace, request.worstMembers),
    outboxItems: unless((id) => workspace.outbox.isLoaded(id), request.outboxItems),
    alerts: unless((ref) => workspace.alerts.isLoaded(ref), request.alerts),
    operators: unless((name) => workspace.operators.isLoaded(name), request.operators),
    silences: unless((id) => workspace.silences.isLoaded(id), request.silences),
    replicas: request.replicas && !workspace.knowsReplicas ? true : undefined,
    mark: request.mark && !workspace.marks.isLoaded("service") ? true : undefined,
    pendingAgents: request.pendingAgents && !workspace.knowsPendingAgents ? true : undefined,
  }
  // RowRequest has optional parts and no undefined ones; readers treat the two alike.
  return missing as RowRequest
}
