import type { AgentId, IncidentId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import { type Loaders, loadParts, ofEachTable } from "@tocsin/core/engine/unitOfWork/load"
import type { RowRequest } from "@tocsin/core/engine/unitOfWork/RowRequest"
import type { UnitOfWork } from "@tocsin/core/engine/unitOfWork/UnitOfWork"
import { type Groups, groupText, type Keys, keyText } from "@tocsin/core/model/StoredTables"
import { isDropped } from "@tocsin/core/model/OutboxRecord"
import type { KeyedMaps, MemoryTables } from "./MemoryTables.ts"
import { firstMembers, type Reading, SEARCHES } from "./search.ts"

/** Loads the rows of a request into a unit of work. */
export const loadRows = (tables: MemoryTables, unit: UnitOfWork, request: RowRequest, now: Instant): void => {
  loadParts(LOADERS, { tables, unit, now }, request)
}

const registrationOf = ({ unit }: Reading, agentId: AgentId) => unit.agents.get(agentId)?.registration_id

const loadIncident = ({ tables, unit }: Reading, id: IncidentId): void => {
  const incident = tables.incidents.get(id)
  if (incident === undefined) return unit.incidents.load(id, undefined)
  const items = tables.keyed.outbox.of("incident_id", id).filter((item) => !isDropped(item))
  unit.loadIncident(incident, items, tables.keyed.alert.of("incident_id", id))
}

const LOADERS: Loaders<Reading> = {
  ...SEARCHES,
  // Nothing waits for rows in memory.
  skipLocked: () => {},
  agents: ({ tables, unit }, ids) => {
    for (const id of ids) unit.agents.load(id, tables.agents.get(id))
  },
  blacklist: ({ tables, unit }, ids) => {
    for (const id of ids) {
      const [key] = tables.keyed.agent_key.of("blacklist_id", id)
      unit.blacklist.load(id, key && { id, key_hash: key.key_hash })
      if (key !== undefined) unit.keys.load(key.key_hash, key)
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
  worstMembers: ({ tables, unit }, { incident_id, limit }) => {
    const first = firstMembers(tables, incident_id, limit + 1)
    const worst = first.slice(0, limit)
    for (const member of worst) unit.members.load(member, member)
    const complete = worst.length === first.length
    unit.rankings.set(incident_id, { limit, floor: worst.at(-1), complete })
  },
  rows: ({ tables, unit }, asked) =>
    ofEachTable<Keys>(asked, (name, keys) => {
      const table = unit.of(name)
      const { [name]: rows }: KeyedMaps = tables.keyed
      for (const key of keys) table.load(key, rows.get(keyText(name, key)))
    }),
  groups: ({ tables, unit }, asked) =>
    ofEachTable<Groups>(asked, (name, groups) => {
      const { [name]: rows }: KeyedMaps = tables.keyed
      for (const group of groups)
        unit.keyed.loadGroups(name, [group], rows.of("group", groupText(name, group)))
    }),
  pendingAgents: ({ tables, unit }) => unit.loadPendingAgents(tables.pendingAgents),
}
