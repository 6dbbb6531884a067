import { isAcknowledged } from "@tocsin/core/model/Acknowledgement"
import type { IncidentId } from "@tocsin/contract/Identifiers"
import type { ListFilters, ListName, ListRows } from "@tocsin/core/model/ListDefinitions"
import { keyText } from "@tocsin/core/model/StoredTables"
import { hasWords, isOfStatus, searchedOf } from "@tocsin/core/engine/lists/arms"
import { isHeld } from "@tocsin/core/model/OutboxRecord"
import { silenceState } from "@tocsin/core/model/SilenceRecord"
import type { MemoryTables } from "./MemoryTables.ts"

/** Whether a row belongs to a list with this filter. */
type Passes<L extends ListName> = (tables: MemoryTables, filter: ListFilters[L], row: ListRows[L]) => boolean

const wants = <T>(filter: T | undefined, value: T): boolean => filter === undefined || filter === value

/** Rows of earlier registrations leave all lists before retention removes them. */
const isRegistered = (tables: MemoryTables, row: ListRows["checks" | "overdue" | "history"]): boolean =>
  tables.agents.get(row.agent_id)?.registration_id === row.registration_id

const ofAgent: Passes<"checks" | "overdue"> = (tables, { agent_id }, row) =>
  wants(agent_id, row.agent_id) && isRegistered(tables, row)

const hadMember = (
  tables: MemoryTables,
  id: IncidentId,
  { agent_id, check_id }: ListFilters["incidents"],
): boolean => {
  if (agent_id === undefined && check_id === undefined) return true
  const members = tables.keyed.incident_member
  if (agent_id !== undefined && check_id !== undefined)
    return members.has(keyText("incident_member", { incident_id: id, agent_id, check_id }))
  return members
    .of("incident_id", id)
    .some((member) => wants(agent_id, member.agent_id) && wants(check_id, member.check_id))
}

/** The filters of all lists. */
export const listFilters: { readonly [L in ListName]: Passes<L> } = {
  agents: () => true,
  checks: (tables, filter, row) =>
    ofAgent(tables, filter, row) &&
    isOfStatus(filter.status, row.status) &&
    hasWords(filter.search, searchedOf(row)),
  overdue: ofAgent,
  history: (tables, filter, row) =>
    wants(filter.agent_id, row.agent_id) && wants(filter.check_id, row.check_id) && isRegistered(tables, row),
  incidents: (tables, filter, row) =>
    wants(filter.state, row.state) &&
    wants(filter.severity, row.severity) &&
    wants(filter.acknowledged, isAcknowledged(row, filter.at)) &&
    hadMember(tables, row.id, filter),
  outbox: (_, filter, row) =>
    wants(filter.state, row.state) &&
    wants(filter.notifier, row.notifier) &&
    wants(filter.event_type, row.event_type) &&
    wants(filter.held, isHeld(row)),
  operators: () => true,
  integrations: () => true,
  enrolments: () => true,
  watches: () => true,
  audit: (_, filter, row) =>
    wants(filter.actor, row.actor) &&
    wants(filter.action, row.action) &&
    (filter.subject === undefined || row.subjects.some(({ id }) => id === filter.subject)) &&
    (filter.from === undefined || row.recorded_at >= filter.from) &&
    (filter.to === undefined || row.recorded_at < filter.to),
  silences: (_, { at, state }, row) =>
    state === undefined || at === undefined || silenceState(row, at) === state,
  blacklist: () => true,
}
