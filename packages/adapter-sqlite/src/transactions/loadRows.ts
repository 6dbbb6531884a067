import type { AgentId } from "@tocsin/contract/Identifiers"
import { type Loaders, loadParts, ofEachTable } from "@tocsin/core/engine/unitOfWork/load"
import type { RowRequest } from "@tocsin/core/engine/unitOfWork/RowRequest"
import type { IncidentRecord } from "@tocsin/core/model/IncidentRecord"
import type { Groups, Keys } from "@tocsin/core/model/StoredTables"
import { type Reading, SEARCHES } from "./searchRows.ts"

/** Brings the rows that a request names or searches from the tables into a unit of work. */
export const loadRows = (reading: Reading, request: RowRequest): void => loadParts(LOADERS, reading, request)

const registrationOf = ({ unit }: Reading, agentId: AgentId) => unit.agents.get(agentId)?.registration_id

const loadIncident = ({ rows: { tables }, unit }: Reading, incident: IncidentRecord): void => {
  const { id } = incident
  unit.loadIncident(incident, tables.outbox.ofIncident(id), tables.alert.ofIncident(id))
}

const LOADERS: Loaders<Reading> = {
  ...SEARCHES,
  // One transaction at a time has the file to itself.
  skipLocked: () => {},
  agents: ({ rows: { cache }, unit }, ids) => {
    for (const id of ids) unit.agents.load(id, cache.agent(id))
  },
  blacklist: ({ rows: { tables }, unit }, ids) => {
    for (const id of ids) {
      const key = tables.agent_key.findBlocked(id)
      unit.blacklist.load(id, key && { id, key_hash: key.key_hash })
      if (key !== undefined) unit.keys.load(key.key_hash, key)
    }
  },
  checks: (reading, { agent_id, check_ids }) => {
    const registration_id = registrationOf(reading, agent_id)
    if (registration_id === undefined) return
    const { rows, unit } = reading
    for (const check_id of check_ids) {
      const ref = { agent_id, registration_id, check_id }
      unit.checks.load(ref, rows.cache.check(ref))
    }
  },
  history: (reading, { agent_id, event_ids }) => {
    const registration_id = registrationOf(reading, agent_id)
    if (registration_id === undefined) return
    const known = reading.rows.tables.history.known(agent_id, registration_id, event_ids)
    reading.unit.knownEvents.load(registration_id, event_ids, known)
  },
  incidents: (reading, ids) => {
    for (const id of ids) {
      const incident = reading.rows.tables.incidents.find(id)
      if (incident === undefined) reading.unit.incidents.load(id, undefined)
      else loadIncident(reading, incident)
    }
  },
  openIncidents: (reading, refs) => {
    for (const ref of refs) {
      const incident = reading.rows.tables.incidents.findOpen(ref)
      if (incident === undefined) reading.unit.openIncidents.load(ref, undefined)
      else loadIncident(reading, incident)
    }
  },
  worstMembers: ({ rows: { tables }, unit }, { incident_id, limit }) => {
    // One more row shows whether these are all.
    const found = tables.incident_member.worst(incident_id, limit + 1)
    const worst = found.slice(0, limit)
    for (const member of worst) unit.members.load(member, member)
    unit.rankings.set(incident_id, { limit, floor: worst.at(-1), complete: found.length <= limit })
  },
  rows: ({ rows: { tables }, unit }, asked) =>
    ofEachTable<Keys>(asked, (name, keys) => {
      const [table, stored] = [unit.of(name), tables.keyed[name]]
      for (const key of keys) table.load(key, stored.find(key))
    }),
  groups: ({ rows: { tables }, unit }, asked) =>
    ofEachTable<Groups>(asked, (name, groups) => {
      for (const group of groups) unit.keyed.loadGroups(name, [group], tables.keyed[name].ofGroup(group))
    }),
  pendingAgents: ({ rows: { tables }, unit }) => unit.loadPendingAgents(tables.agents.countPending()),
}
