import type { AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { RowRequest } from "@tocsin/core/engine/workspace/RowRequest"
import type { WithIncident } from "@tocsin/core/engine/workspace/Found"
import type { Workspace } from "@tocsin/core/engine/workspace/Workspace"
import type { AgentId, IncidentId } from "@tocsin/core/contract/Identifiers"
import type { Instant } from "@tocsin/core/contract/Instant"
import type { Tables } from "../tables/makeTables.ts"

/** Whether a request looks for rows in the tables, which know nothing of what a workspace has made of them. */
export const isSearch = (request: RowRequest): boolean =>
  request.claimableOutbox !== undefined ||
  request.heldOutbox !== undefined ||
  request.dueIncidents !== undefined ||
  request.incidentsToRead !== undefined ||
  request.loudMembers !== undefined ||
  request.openings !== undefined ||
  request.silencesInForce !== undefined ||
  request.unendedSilences !== undefined ||
  request.claimableAlerts !== undefined ||
  request.unclaimedOutbox !== undefined ||
  request.idlePendingAgents !== undefined

/**
 * Runs the searches of a request. `now` is the storage's clock too: all processes that can open one file share a machine.
 * They hold no rows from one another either, since one transaction at a time has the file to itself.
 */
export const searchRows = (tables: Tables, workspace: Workspace, request: RowRequest, now: Instant): void => {
  const { found } = workspace
  if (request.claimableOutbox !== undefined) {
    const { notifiers, limit } = request.claimableOutbox
    found.claimableOutbox = withIncidents(tables, tables.outbox.due(notifiers, now, limit))
    found.expiredOutbox = tables.outbox.expired(notifiers, now, limit)
    found.storageTime = now
    for (const { row } of found.claimableOutbox) workspace.outbox.load(row.id, row)
    for (const row of found.expiredOutbox) workspace.outbox.load(row.id, row)
  }
  if (request.heldOutbox !== undefined) found.heldOutbox = tables.outbox.held(now, request.heldOutbox.limit)
  if (request.claimableAlerts !== undefined) {
    found.claimableAlerts = withIncidents(tables, tables.alerts.claimable(request.claimableAlerts, now))
    found.storageTime = now
    for (const { row } of found.claimableAlerts) workspace.alerts.load(row, row)
  }
  if (request.unclaimedOutbox !== undefined) {
    found.unclaimedOutbox = tables.outbox.unclaimed(request.unclaimedOutbox, now)
    for (const row of found.unclaimedOutbox) workspace.outbox.load(row.id, row)
  }
  if (request.dueIncidents !== undefined)
    found.dueIncidents = tables.incidents.due(now, request.dueIncidents.limit)
  if (request.incidentsToRead !== undefined) {
    found.incidentsToRead = new Map(
      request.incidentsToRead.flatMap((id) => {
        const incident = tables.incidents.find(id)
        return incident === undefined ? [] : [[id, incident]]
      }),
    )
  }
  if (request.loudMembers !== undefined) found.loudMembers = loudMembers(tables, request.loudMembers)
  if (request.openings !== undefined) {
    found.openings = new Map(
      request.openings.map(({ incident, limit, since, until }) => [
        incident.id,
        tables.incidents.openings(incident, { since, until, limit }),
      ]),
    )
  }
  if (request.silencesInForce !== undefined) {
    found.silencesInForce = tables.silences.inForce(now, request.silencesInForce.endingAfter)
    found.mark = tables.marks.find("service")
  }
  if (request.unendedSilences !== undefined) found.unendedSilences = tables.silences.countUnended(now)
  searchAgents(tables, workspace, request)
}

const loudMembers = (
  tables: Tables,
  asked: NonNullable<RowRequest["loudMembers"]>,
): Workspace["found"]["loudMembers"] => {
  const agents = new Map<AgentId, AgentRecord | undefined>()
  const agentOf = (id: AgentId) => {
    if (!agents.has(id)) agents.set(id, tables.agents.find(id))
    return agents.get(id)
  }
  return new Map(
    asked.flatMap(({ incident_id, limit }) => {
      const members = tables.members.loud(incident_id, limit)
      return members.length === 0
        ? []
        : [[incident_id, members.map((member) => ({ member, agent: agentOf(member.agent_id) }))]]
    }),
  )
}

const searchAgents = (tables: Tables, workspace: Workspace, request: RowRequest): void => {
  const load = (agents: ReadonlyArray<AgentRecord>): ReadonlyArray<AgentId> =>
    agents.map((agent) => {
      workspace.agents.load(agent.agent_id, agent)
      return agent.agent_id
    })
  if (request.idlePendingAgents !== undefined) {
    const { seenBefore, limit } = request.idlePendingAgents
    workspace.found.idlePendingAgents = load(tables.agents.idlePending(seenBefore, limit))
  }
}

const withIncidents = <Row extends { readonly incident_id: IncidentId }>(
  tables: Tables,
  rows: ReadonlyArray<Row>,
): ReadonlyArray<WithIncident<Row>> =>
  rows.flatMap((row) => {
    const incident = tables.incidents.find(row.incident_id)
    return incident === undefined ? [] : [{ row, incident }]
  })
