import type { IncidentId, OutboxId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { Loaders } from "@tocsin/core/engine/unitOfWork/load"
import type {
  RowRequest,
  Search,
  SearchResults,
  WithIncident,
} from "@tocsin/core/engine/unitOfWork/RowRequest"
import type { UnitOfWork } from "@tocsin/core/engine/unitOfWork/UnitOfWork"
import { comparing } from "@tocsin/core/engine/comparing"
import { type AgentRecord, isSilent } from "@tocsin/core/model/AgentRecord"
import type { IncidentRecord } from "@tocsin/core/model/IncidentRecord"
import { type AlertRecord, isBehind, type OutboxRecord } from "@tocsin/core/model/OutboxRecord"
import { compareMembers, type MemberRecord } from "@tocsin/core/model/MemberRecord"
import { firstInOrder } from "./firstInOrder.ts"
import { labelsOf, type MemoryTables } from "./MemoryTables.ts"

/** The tables that a request reads, and the unit of work that it fills; `now` is the storage's clock too. */
export interface Reading {
  readonly tables: MemoryTables
  readonly unit: UnitOfWork
  readonly now: Instant
}

const isWaiting = (item: OutboxRecord): boolean => item.state === "pending" || item.state === "retry"

const byDueTime = comparing<OutboxRecord>(
  (item) => item.next_attempt_at ?? 0n,
  (item) => item.id,
)
const byLease = comparing<OutboxRecord>(
  (item) => item.leased_until ?? 0n,
  (item) => item.id,
)
const byAlertTime = comparing<AlertRecord>(
  (alert) => alert.next_at,
  (alert) => alert.incident_id,
  (alert) => alert.severity,
)

const withIncident = <Row extends { readonly incident_id: OutboxRecord["incident_id"] }>(
  tables: MemoryTables,
  rows: ReadonlyArray<Row>,
): ReadonlyArray<WithIncident<Row>> =>
  rows.flatMap((row) => {
    const incident = tables.incidents.get(row.incident_id)
    return incident === undefined ? [] : [{ row, incident }]
  })

const searchOutbox = (
  { now, tables, unit }: Reading,
  { receivers, limit }: NonNullable<RowRequest["claimableOutbox"]>,
): void => {
  const claimable = (id: OutboxId) => {
    const item = tables.keyed.outbox.get(id)
    if (item === undefined || !tables.incidents.has(item.incident_id)) return undefined
    return tables.keyed.outbox.of("incident_id", item.incident_id).some((other) => isBehind(item, other))
      ? undefined
      : item
  }
  const deliveries = tables.keyed.outbox.deliveriesOf(receivers)
  const due = deliveries.flatMap(({ waiting }) => waiting.due(now, limit, claimable))
  const expired = deliveries.flatMap(({ leased }) =>
    leased.due(now, limit, (id) => tables.keyed.outbox.get(id)),
  )
  const { searchResults: found } = unit
  const first = deliveries.length === 1 ? due : due.toSorted(byDueTime).slice(0, limit)
  found.claimableOutbox = withIncident(tables, first)
  found.expiredOutbox = expired.toSorted(byLease).slice(0, limit)
  found.storageTime = now
  for (const { row } of found.claimableOutbox) unit.outbox.load(row.id, row)
  for (const row of found.expiredOutbox) unit.outbox.load(row.id, row)
}

const searchUnclaimed = (
  { now, tables, unit }: Reading,
  { listed, untouchedSince, limit }: NonNullable<RowRequest["unclaimedOutbox"]>,
): void => {
  const others = Array.from(tables.keyed.outbox.values()).filter((item) => !listed.includes(item.receiver))
  const endBy = (item: OutboxRecord) => (item.receiver === item.notifier ? untouchedSince : now)
  const waiting = others.filter(
    (item) => isWaiting(item) && (item.receiver !== item.notifier || item.updated_at < untouchedSince),
  )
  const leased = others.filter((item) => item.leased_until !== undefined && item.leased_until < endBy(item))
  const unclaimed = [...waiting.slice(0, limit), ...leased.slice(0, limit)]
  unit.searchResults.unclaimedOutbox = unclaimed
  for (const item of unclaimed) unit.outbox.load(item.id, item)
}

const searchAlerts = (
  { now, tables, unit }: Reading,
  { limit, receiver }: NonNullable<RowRequest["claimableAlerts"]>,
): void => {
  const due = Array.from(tables.keyed.alert.values())
    .filter(
      (alert) =>
        alert.receiver === receiver &&
        alert.next_at <= now &&
        (alert.leased_until === undefined || alert.leased_until <= now),
    )
    .toSorted(byAlertTime)
  unit.searchResults.claimableAlerts = withIncident(tables, due.slice(0, limit))
  unit.searchResults.storageTime = now
  for (const { row } of unit.searchResults.claimableAlerts) unit.alerts.load(row, row)
}

/** The first present members of an incident by `compareMembers` of which `isWanted` is true. */
export const firstMembers = (
  tables: MemoryTables,
  id: IncidentId,
  limit: number,
  isWanted: (member: MemberRecord) => boolean = () => true,
): ReadonlyArray<MemberRecord> => {
  const present = tables.keyed.incident_member
    .of("incident_id", id)
    .filter((member) => member.left_at === undefined && isWanted(member))
  return firstInOrder(present, limit, compareMembers)
}

const searchParents = (
  { tables }: Reading,
  { agents, checks, isAll, keys, limit, staleSince }: NonNullable<RowRequest["parents"]>,
): SearchResults["parents"] => {
  const ids = (found: Iterable<string>) => new Set(found)
  const [wantedAgents, wantedChecks, wantedKeys] = [ids(agents), ids(checks), ids(keys)]
  const isWanted = ({ id, incident_key }: IncidentRecord) =>
    isAll ||
    wantedKeys.has(incident_key) ||
    tables.keyed.incident_member
      .of("incident_id", id)
      .some(
        ({ agent_id, check_id, left_at }) =>
          left_at === undefined && (wantedAgents.has(agent_id) || wantedChecks.has(check_id)),
      )
  const open = Object.values(tables.openIncidents).flatMap((byKey) =>
    Array.from(byKey.values()).flatMap((id) => tables.incidents.get(id) ?? []),
  )
  const isStale = (agent: AgentRecord) => staleSince !== undefined && isSilent(agent, staleSince)
  const known = Array.from(tables.agents.values())
  return {
    incidents: firstInOrder(
      open.filter(isWanted),
      limit,
      comparing(({ id }) => id),
    ),
    agents: firstInOrder(
      known.filter((agent) => wantedAgents.has(agent.agent_id) || isStale(agent)),
      limit,
      comparing(({ agent_id }) => agent_id),
    ),
  }
}

/** The searches of a request. */
export const SEARCHES: Loaders<Reading, Search> = {
  claimableOutbox: searchOutbox,
  unclaimedOutbox: searchUnclaimed,
  claimableAlerts: searchAlerts,
  heldOutbox: ({ now, tables, unit }, { limit }) => {
    const { held } = tables.keyed.outbox
    unit.searchResults.heldOutbox = held.due(now, limit, (id) => tables.keyed.outbox.get(id)?.incident_id)
  },
  dueIncidents: ({ now, tables, unit }, { limit }) => {
    unit.searchResults.dueIncidents = tables.incidents.evaluations.due(now, limit, (id) => id)
  },
  incidentsToRead: ({ tables, unit }, ids) => {
    unit.searchResults.incidentsToRead = new Map(
      ids.flatMap((id) => {
        const incident = tables.incidents.get(id)
        return incident === undefined ? [] : [[id, incident]]
      }),
    )
  },
  loudMembers: ({ tables, unit }, asked) => {
    unit.searchResults.loudMembers = new Map(
      asked.flatMap(({ incident_id, limit }) => {
        const first = firstMembers(tables, incident_id, limit, ({ is_loud }) => is_loud)
        const loud = first.map((member) => {
          const agent = tables.agents.get(member.agent_id)
          return { member, agent, labels: labelsOf(tables, member) }
        })
        return loud.length === 0 ? [] : [[incident_id, loud]]
      }),
    )
  },
  parents: (reading, asked) => {
    reading.unit.searchResults.parents = searchParents(reading, asked)
  },
  openings: ({ tables, unit }, asked) => {
    unit.searchResults.openings = new Map(
      asked.map(({ incident, limit, since, until }) => [
        incident.id,
        Array.from(tables.incidents.values())
          .filter(
            ({ incident_key, kind }) => incident_key === incident.incident_key && kind === incident.kind,
          )
          .map(({ opened_at }) => opened_at)
          .filter((at) => at > since && at <= until)
          .toSorted((a, b) => (a > b ? -1 : 1))
          .slice(0, limit),
      ]),
    )
  },
  silencesInForce: ({ now, tables, unit: { searchResults: found } }, { endingAfter }) => {
    found.silencesInForce = Array.from(tables.keyed.silence.values()).filter(
      ({ ends_at, starts_at }) => starts_at <= now && ends_at > endingAfter,
    )
    found.serviceHeartbeat = tables.keyed.service_heartbeat.get("service")
  },
  unendedSilences: ({ now, tables, unit }) => {
    const all = Array.from(tables.keyed.silence.values())
    unit.searchResults.unendedSilences = all.filter(({ ends_at }) => ends_at > now)
  },
  idlePendingAgents: ({ tables, unit }, { seenBefore, limit }) => {
    const agents = Array.from(tables.agents.values())
      .filter((agent) => agent.admission_state === "pending" && agent.last_seen_at <= seenBefore)
      .toSorted(comparing((agent) => agent.agent_id))
      .slice(0, limit)
    for (const agent of agents) unit.agents.load(agent.agent_id, agent)
    unit.searchResults.idlePendingAgents = agents.map((agent) => agent.agent_id)
  },
}
