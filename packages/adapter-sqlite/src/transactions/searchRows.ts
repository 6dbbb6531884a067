import type { AgentRecord } from "@tocsin/core/model/AgentRecord"
import type { MemberRecord } from "@tocsin/core/model/MemberRecord"
import type { AgentId, IncidentId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { Loaders } from "@tocsin/core/engine/unitOfWork/load"
import type { LoudMember, RowRequest, Search, WithIncident } from "@tocsin/core/engine/unitOfWork/RowRequest"
import type { UnitOfWork } from "@tocsin/core/engine/unitOfWork/UnitOfWork"
import type { Tables } from "../tables/makeTables.ts"
import type { StoredRows } from "./StoredRows.ts"

/**
 * The rows that a request reads, and the unit of work that it fills. `now` is the storage's clock too: all
 * processes that can open one file share a machine. They hold no rows from one another either, since one
 * transaction at a time has the file to itself.
 */
export interface Reading {
  readonly rows: StoredRows
  readonly unit: UnitOfWork
  readonly now: Instant
}

/** Whether a request looks for rows in the tables, which know nothing of what a unit of work has made of them. */
export const isSearch = (request: RowRequest): boolean =>
  Object.keys(request).some((part) => Object.hasOwn(SEARCHES, part))

const loudMembers = (
  tables: Tables,
  asked: NonNullable<RowRequest["loudMembers"]>,
): UnitOfWork["searchResults"]["loudMembers"] => {
  const agents = new Map<AgentId, AgentRecord | undefined>()
  const agentOf = (id: AgentId) => {
    if (!agents.has(id)) agents.set(id, tables.agents.find(id))
    return agents.get(id)
  }
  const loudMember = (member: MemberRecord): LoudMember => ({
    member,
    agent: agentOf(member.agent_id),
    labels: tables.expectation.labelsOf(member),
  })
  return new Map(
    asked.flatMap(({ incident_id, limit }) => {
      const members = tables.incident_member.loud(incident_id, limit)
      return members.length === 0 ? [] : [[incident_id, members.map(loudMember)]]
    }),
  )
}

const withIncidents = <Row extends { readonly incident_id: IncidentId }>(
  tables: Tables,
  rows: ReadonlyArray<Row>,
): ReadonlyArray<WithIncident<Row>> =>
  rows.flatMap((row) => {
    const incident = tables.incidents.find(row.incident_id)
    return incident === undefined ? [] : [{ row, incident }]
  })

/** The searches of a request. */
export const SEARCHES: Loaders<Reading, Search> = {
  claimableOutbox: ({ now, rows: { tables }, unit }, { receivers, limit }) => {
    const { searchResults: found } = unit
    found.claimableOutbox = withIncidents(tables, tables.outbox.due(receivers, now, limit))
    found.expiredOutbox = tables.outbox.expired(receivers, now, limit)
    found.storageTime = now
    for (const { row } of found.claimableOutbox) unit.outbox.load(row.id, row)
    for (const row of found.expiredOutbox) unit.outbox.load(row.id, row)
  },
  heldOutbox: ({ now, rows: { tables }, unit }, { limit }) => {
    unit.searchResults.heldOutbox = tables.outbox.held(now, limit)
  },
  claimableAlerts: ({ now, rows: { tables }, unit }, asked) => {
    const { searchResults: found } = unit
    found.claimableAlerts = withIncidents(tables, tables.alert.claimable(asked, now))
    found.storageTime = now
    for (const { row } of found.claimableAlerts) unit.alerts.load(row, row)
  },
  unclaimedOutbox: ({ now, rows: { tables }, unit }, asked) => {
    unit.searchResults.unclaimedOutbox = tables.outbox.unclaimed(asked, now)
    for (const row of unit.searchResults.unclaimedOutbox) unit.outbox.load(row.id, row)
  },
  dueIncidents: ({ now, rows: { tables }, unit }, { limit }) => {
    unit.searchResults.dueIncidents = tables.incidents.due(now, limit)
  },
  incidentsToRead: ({ rows: { tables }, unit }, ids) => {
    unit.searchResults.incidentsToRead = new Map(
      ids.flatMap((id) => {
        const incident = tables.incidents.find(id)
        return incident === undefined ? [] : [[id, incident]]
      }),
    )
  },
  loudMembers: ({ rows: { tables }, unit }, asked) => {
    unit.searchResults.loudMembers = loudMembers(tables, asked)
  },
  parents: ({ rows: { tables }, unit }, asked) => {
    unit.searchResults.parents = {
      incidents: tables.incidents.parents(asked),
      agents: tables.agents.parents(asked),
    }
  },
  openings: ({ rows: { tables }, unit }, asked) => {
    unit.searchResults.openings = new Map(
      asked.map(({ incident, limit, since, until }) => [
        incident.id,
        tables.incidents.openings(incident, { since, until, limit }),
      ]),
    )
  },
  silencesInForce: ({ now, rows: { tables }, unit: { searchResults: found } }, { endingAfter }) => {
    found.silencesInForce = tables.silence.inForce(now, endingAfter)
    found.serviceHeartbeat = tables.keyed.service_heartbeat.find("service")
  },
  unendedSilences: ({ now, rows: { tables }, unit }) => {
    unit.searchResults.unendedSilences = tables.silence.unended(now)
  },
  idlePendingAgents: ({ rows: { tables }, unit }, { seenBefore, limit }) => {
    const agents = tables.agents.idlePending(seenBefore, limit)
    for (const agent of agents) unit.agents.load(agent.agent_id, agent)
    unit.searchResults.idlePendingAgents = agents.map((agent) => agent.agent_id)
  },
}
