import type { AgentId, IncidentId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import { type Loaders, loadParts } from "@tocsin/core/engine/unitOfWork/loadParts"
import type { RowRequest } from "@tocsin/core/engine/unitOfWork/RowRequest"
import type { UnitOfWork } from "@tocsin/core/engine/unitOfWork/UnitOfWork"
import { alertKey, memberKey, type MemoryTables, outboxOf } from "./MemoryTables.ts"
import { firstMembers, type Reading, SEARCHES } from "./search.ts"

const NONE: ReadonlyArray<never> = []

/** Loads the rows of a request into a unit of work. */
export const loadRows = (tables: MemoryTables, unit: UnitOfWork, request: RowRequest, now: Instant): void => {
  loadParts(LOADERS, { tables, unit, now }, request)
}

const registrationOf = ({ unit }: Reading, agentId: AgentId) => unit.agents.get(agentId)?.registration_id

const loadIncident = ({ tables, unit }: Reading, id: IncidentId): void => {
  const incident = tables.incidents.get(id)
  if (incident === undefined) return unit.incidents.load(id, undefined)
  const items = outboxOf(tables, id).filter((item) => item.state !== "discarded")
  unit.loadIncident(incident, items, tables.alerts.get(id)?.values() ?? NONE)
}

const LOADERS: Loaders<Reading> = {
  ...SEARCHES,
  // Nothing waits for rows in memory.
  skipLocked: () => {},
  agents: ({ tables, unit }, ids) => {
    for (const id of ids) unit.agents.load(id, tables.agents.get(id))
  },
  keys: ({ tables, unit }, hashes) => {
    for (const hash of hashes) unit.keys.load(hash, tables.keys.get(hash))
  },
  keysOfAgents: ({ tables, unit }, ids) => {
    for (const id of ids) {
      for (const hash of tables.keysOfAgents.get(id) ?? NONE) unit.keys.load(hash, tables.keys.get(hash))
      unit.keysOfAgents.add(id)
    }
  },
  blacklist: ({ tables, unit }, ids) => {
    for (const id of ids) {
      const key_hash = tables.blacklist.get(id)
      unit.blacklist.load(id, key_hash && { id, key_hash })
      if (key_hash !== undefined) unit.keys.load(key_hash, tables.keys.get(key_hash))
    }
  },
  checks: (reading, { agent_id, check_ids }) => {
    const registration_id = registrationOf(reading, agent_id)
    if (registration_id === undefined) return
    const found = reading.tables.checks.get(registration_id)
    for (const check_id of check_ids)
      reading.unit.checks.load({ agent_id, registration_id, check_id }, found?.get(check_id))
  },
  history: (reading, { agent_id, event_ids }) => {
    const registration_id = registrationOf(reading, agent_id)
    if (registration_id === undefined) return
    const known = reading.tables.knownEvents.get(registration_id) ?? new Map()
    reading.unit.knownEvents.load(registration_id, event_ids, known)
  },
  expectations: (reading, { agent_id, check_ids }) => {
    const registration_id = registrationOf(reading, agent_id)
    if (registration_id === undefined) return
    const found = reading.tables.expectations.get(registration_id)
    for (const check_id of check_ids)
      reading.unit.expectations.load({ agent_id, registration_id, check_id }, found?.get(check_id))
  },
  expectationsOfAgents: (reading, ids) => {
    const { tables, unit } = reading
    for (const id of ids) {
      for (const row of tables.expectations.get(registrationOf(reading, id) ?? "")?.values() ?? NONE)
        unit.expectations.load(row, row)
      unit.expectationsOfAgents.add(id)
    }
  },
  incidents: (reading, ids) => {
    for (const id of ids) loadIncident(reading, id)
  },
  openIncidents: (reading, refs) => {
    for (const ref of refs) {
      const id = reading.tables.openIncidents[ref.kind].get(ref.incident_key)
      if (id === undefined) reading.unit.openIncidents.load(ref, undefined)
      else loadIncident(reading, id)
    }
  },
  members: ({ tables, unit }, refs) => {
    for (const ref of refs) {
      const ofIncident = tables.members.get(ref.incident_id)
      unit.members.load(ref, ofIncident?.get(memberKey(ref)))
    }
  },
  membersOfAgents: ({ tables, unit }, ids) => {
    for (const id of ids) {
      for (const member of tables.membershipsOfAgents.get(id) ?? NONE) unit.members.load(member, member)
      unit.membersOfAgents.add(id)
    }
  },
  worstMembers: ({ tables, unit }, { incident_id, limit }) => {
    const first = firstMembers(tables, incident_id, limit + 1)
    const worst = first.slice(0, limit)
    for (const member of worst) unit.members.load(member, member)
    const complete = worst.length === first.length
    unit.rankings.set(incident_id, { limit, floor: worst.at(-1), complete })
  },
  outboxItems: ({ tables, unit }, ids) => {
    for (const id of ids) unit.outbox.load(id, tables.outbox.get(id))
  },
  alerts: ({ tables, unit }, refs) => {
    for (const ref of refs) unit.alerts.load(ref, tables.alerts.get(ref.incident_id)?.get(alertKey(ref)))
  },
  operators: ({ tables, unit }, names) => {
    for (const name of names) unit.operators.load(name, tables.operators.get(name))
  },
  silences: ({ tables, unit }, ids) => {
    for (const id of ids) unit.silences.load(id, tables.silences.get(id))
  },
  replicas: ({ tables, unit }) => unit.loadReplicas(tables.replicas.values()),
  serviceHeartbeat: ({ tables, unit }) => unit.serviceHeartbeats.load("service", tables.serviceHeartbeat),
  pendingAgents: ({ tables, unit }) => unit.loadPendingAgents(tables.pendingAgents),
}
