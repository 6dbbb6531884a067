import type { Decision } from "./Decision.ts"
import type { Scope } from "./Scope.ts"
import type { Workspace } from "./Workspace.ts"

/** Parts of a scope that are searches: they are always read anew, by yielding the scope itself. */
type Searches = "claimableOutbox" | "abandonedOutbox" | "claimableAlerts" | "idlePendingAgents" | "passesHeld"

/** Asks for those rows of `scope` that the workspace does not hold yet; goes straight on when it holds them all. */
export function* ensure(workspace: Workspace, scope: Omit<Scope, Searches>): Decision<void> {
  const missing = missingFrom(workspace, scope)
  if (Object.values(missing).some((part) => part !== undefined)) yield missing
}

type Missing = { readonly [Part in keyof Scope]?: Scope[Part] | undefined }

const unless = <Id>(isLoaded: (id: Id) => boolean, ids: ReadonlyArray<Id> | undefined) => {
  const missing = ids?.filter((id) => !isLoaded(id))
  return missing === undefined || missing.length === 0 ? undefined : missing
}

const distinct = <Id>(ids: ReadonlyArray<Id> | undefined) => ids && Array.from(new Set(ids))

const missingChecks = (workspace: Workspace, scope: NonNullable<Scope["checks"]>): Scope["checks"] => {
  const { agent_id } = scope
  if (!workspace.agents.isLoaded(agent_id)) return scope
  const agent = workspace.agents.get(agent_id)
  if (agent === undefined) return undefined
  const { registration_id } = agent
  const check_ids = unless(
    (check_id) => workspace.checks.isLoaded({ agent_id, registration_id, check_id }),
    scope.check_ids,
  )
  return check_ids && { agent_id, check_ids }
}

const missingHistory = (workspace: Workspace, scope: NonNullable<Scope["history"]>): Scope["history"] => {
  const agent = workspace.agents.get(scope.agent_id)
  if (agent === undefined) return undefined
  const event_ids = unless((id) => workspace.knownEvents.isLoaded(agent.registration_id, id), scope.event_ids)
  return event_ids && { agent_id: scope.agent_id, event_ids }
}

const missingRanking = (
  workspace: Workspace,
  scope: NonNullable<Scope["worstMembers"]>,
): Scope["worstMembers"] => {
  const loaded = workspace.rankings.get(scope.incident_id)
  return loaded !== undefined && (loaded.complete || loaded.limit >= scope.limit) ? undefined : scope
}

const missingFrom = (workspace: Workspace, scope: Omit<Scope, Searches>): Scope => {
  const missing: Missing = {
    agents: unless((id) => workspace.agents.isLoaded(id), scope.agents),
    keys: unless((id) => workspace.keys.isLoaded(id), scope.keys),
    keysOfAgents: unless((id) => workspace.keysOfAgents.has(id), scope.keysOfAgents),
    blacklist: unless((id) => workspace.blacklist.isLoaded(id), scope.blacklist),
    checks: scope.checks && missingChecks(workspace, scope.checks),
    history: scope.history && missingHistory(workspace, scope.history),
    // Of the other parts callers name each row once; of incidents, which many checks share, they need not.
    incidents: distinct(unless((id) => workspace.incidents.isLoaded(id), scope.incidents)),
    openIncidents: unless((ref) => workspace.openIncidents.isLoaded(ref), scope.openIncidents),
    members: unless((ref) => workspace.members.isLoaded(ref), scope.members),
    membersOfAgents: unless((id) => workspace.membersOfAgents.has(id), scope.membersOfAgents),
    worstMembers: scope.worstMembers && missingRanking(workspace, scope.worstMembers),
    outboxItems: unless((id) => workspace.outbox.isLoaded(id), scope.outboxItems),
    alerts: unless((ref) => workspace.alerts.isLoaded(ref), scope.alerts),
    mark: scope.mark && !workspace.marks.isLoaded("service") ? true : undefined,
    pendingAgents: scope.pendingAgents && !workspace.knowsPendingAgents ? true : undefined,
  }
  // Scope has optional parts and no undefined ones; for its readers the two mean the same.
  return missing as Scope
}
