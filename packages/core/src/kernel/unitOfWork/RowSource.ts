import type {
  AgentId,
  BlacklistId,
  CheckId,
  EventId,
  IncidentId,
  RegistrationId,
} from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { Labels } from "@tocsin/contract/labels/Labels"
import type { AgentKeyRecord, AgentRecord } from "../../heart/model/AgentRecord.ts"
import type { CheckRecord } from "../../heart/model/CheckRecord.ts"
import { CheckCursor, type CheckName, type CheckRef } from "../model/CheckRef.ts"
import type { IncidentRecord, IncidentRef } from "../../heart/model/IncidentRecord.ts"
import type { CountedName, Groups, KeyedName, KeyedRows, Keys } from "../../lists/StoredTables.ts"
import type { MemberRecord } from "../../heart/model/MemberRecord.ts"
import type { AlertRecord, OutboxRecord } from "../../heart/model/OutboxRecord.ts"
import { ofEachTable, type Step } from "./Decision.ts"
import type { RowRequest } from "./RowRequest.ts"
import {
  type Asked as SearchAsked,
  type Found,
  type LoudMember,
  Search,
  type SearchName,
  type WithIncident,
} from "./Search.ts"
import type { UnitOfWork } from "./UnitOfWork.ts"

type Part = keyof RowRequest
type Asked<P extends Part> = NonNullable<RowRequest[P]>
type OneOf<N extends SearchName> = SearchAsked<N> extends ReadonlyArray<infer One> ? One : never

/**
 * The rows of a storage that one transaction at a time has to itself: nothing waits for rows, and `now` is
 * the storage's clock too. Searches answer as `Searches` says.
 */
export interface RowSource {
  readonly agent: (id: AgentId) => AgentRecord | undefined
  readonly blockedKey: (id: BlacklistId) => AgentKeyRecord | undefined
  readonly check: (ref: CheckRef) => CheckRecord | undefined
  /** Events of the history, at least those of `eventIds` that are in it, with their checks. */
  readonly knownEvents: (
    agentId: AgentId,
    registrationId: RegistrationId,
    eventIds: ReadonlyArray<EventId>,
  ) => ReadonlyMap<EventId, CheckId>
  readonly incident: (id: IncidentId) => IncidentRecord | undefined
  readonly openIncident: (ref: IncidentRef) => IncidentRecord | undefined
  /** The outbox items of an incident that were not discarded untried. */
  readonly outboxOf: (id: IncidentId) => ReadonlyArray<OutboxRecord>
  readonly alertsOf: (id: IncidentId) => ReadonlyArray<AlertRecord>
  readonly row: <N extends KeyedName>(name: N, key: Keys[N]) => KeyedRows[N] | undefined
  readonly group: <N extends KeyedName>(name: N, group: Groups[N]) => ReadonlyArray<KeyedRows[N]>
  readonly pendingAgents: () => number
  /** The first present members of an incident, the worst first; only loud ones. */
  readonly worstMembers: (id: IncidentId, limit: number) => ReadonlyArray<MemberRecord>
  readonly loudMembers: (id: IncidentId, limit: number) => ReadonlyArray<MemberRecord>
  /** The labels of a check of an agent that exists. */
  readonly labelsOf: (check: CheckName) => Labels | undefined
  readonly dueOutbox: (asked: SearchAsked<"claimableOutbox">, now: Instant) => ReadonlyArray<OutboxRecord>
  readonly expiredOutbox: (asked: SearchAsked<"claimableOutbox">, now: Instant) => ReadonlyArray<OutboxRecord>
  readonly heldOutbox: (asked: SearchAsked<"heldOutbox">, now: Instant) => ReadonlyArray<IncidentId>
  readonly unclaimedOutbox: (
    asked: SearchAsked<"unclaimedOutbox">,
    now: Instant,
  ) => ReadonlyArray<OutboxRecord>
  readonly claimableAlerts: (
    asked: SearchAsked<"claimableAlerts">,
    now: Instant,
  ) => ReadonlyArray<AlertRecord>
  readonly dueIncidents: (asked: SearchAsked<"dueIncidents">, now: Instant) => ReadonlyArray<IncidentId>
  readonly parents: (asked: SearchAsked<"parents">) => Found<"parents">
  readonly openings: (asked: OneOf<"openings">) => ReadonlyArray<Instant>
  readonly silencesInForce: (asked: SearchAsked<"silencesInForce">, now: Instant) => Found<"silencesInForce">
  readonly unendedSilences: (now: Instant) => Found<"unendedSilences">
  readonly overridesEndingAfter: (moment: Instant) => Found<"overridesEndingAfter">
  readonly unended: (table: CountedName, now: Instant) => number
  readonly newestPolicy: () => Found<"newestPolicy">
  readonly idlePendingAgents: (asked: SearchAsked<"idlePendingAgents">) => ReadonlyArray<AgentRecord>
}

interface Reading {
  readonly source: RowSource
  readonly unit: UnitOfWork
  readonly now: Instant
}

const withIncidents = <Row extends { readonly incident_id: IncidentId }>(
  source: RowSource,
  rows: ReadonlyArray<Row>,
): ReadonlyArray<WithIncident<Row>> =>
  rows.flatMap((row) => {
    const incident = source.incident(row.incident_id)
    return incident === undefined ? [] : [{ row, incident }]
  })

const searches: { readonly [N in SearchName]: (reading: Reading, asked: SearchAsked<N>) => Found<N> } = {
  claimableOutbox: ({ now, source, unit }, asked) => {
    const due = withIncidents(source, source.dueOutbox(asked, now))
    const expired = source.expiredOutbox(asked, now)
    for (const { row } of due) unit.outbox.load(row.id, row)
    for (const row of expired) unit.outbox.load(row.id, row)
    return { due, expired, storageTime: now }
  },
  heldOutbox: ({ now, source }, asked) => source.heldOutbox(asked, now),
  unclaimedOutbox: ({ now, source, unit }, asked) => {
    const rows = source.unclaimedOutbox(asked, now)
    for (const row of rows) unit.outbox.load(row.id, row)
    return rows
  },
  claimableAlerts: ({ now, source, unit }, asked) => {
    const due = withIncidents(source, source.claimableAlerts(asked, now))
    for (const { row } of due) unit.alerts.load(row, row)
    return { due, storageTime: now }
  },
  dueIncidents: ({ now, source }, asked) => source.dueIncidents(asked, now),
  incidentsToRead: ({ source }, ids) => {
    const found = ids.flatMap((id) => source.incident(id) ?? [])
    return new Map(found.map((incident) => [incident.id, incident]))
  },
  itemToRead: ({ source }, id) => source.row("outbox", id),
  outboxToRead: ({ source }, ids) => ids.flatMap((id) => source.outboxOf(id)),
  loudMembers: ({ source }, asked) => {
    const agents = new Map<AgentId, AgentRecord | undefined>()
    const loudMember = (member: MemberRecord): LoudMember => {
      const { agent_id } = member
      if (!agents.has(agent_id)) agents.set(agent_id, source.agent(agent_id))
      return { member, agent: agents.get(agent_id), labels: source.labelsOf(member) }
    }
    return new Map(
      asked.flatMap(({ incident_id, limit }) => {
        const members = source.loudMembers(incident_id, limit)
        return members.length === 0 ? [] : [[incident_id, members.map(loudMember)]]
      }),
    )
  },
  parents: ({ source }, asked) => source.parents(asked),
  openings: ({ source }, asked) => new Map(asked.map((one) => [one.incident.id, source.openings(one)])),
  silencesInForce: ({ now, source }, asked) => source.silencesInForce(asked, now),
  silencesEndingAfter: ({ source }, moment) => source.unendedSilences(moment),
  unendedSilences: ({ now, source }) => source.unendedSilences(now),
  overridesEndingAfter: ({ source }, moment) => source.overridesEndingAfter(moment),
  unended: ({ now, source }, table) => source.unended(table, now),
  newestPolicy: ({ source }) => source.newestPolicy(),
  blockedKeys: ({ source, unit }, ids) => {
    const keys = ids.flatMap((id) => source.blockedKey(id) ?? [])
    for (const key of keys) unit.keys.load(key.key_hash, key)
    return keys
  },
  idlePendingAgents: ({ source, unit }, asked) => {
    const agents = source.idlePendingAgents(asked)
    for (const agent of agents) unit.agents.load(agent.agent_id, agent)
    return agents.map((agent) => agent.agent_id)
  },
}

const registrationOf = (unit: UnitOfWork, agentId: AgentId) => unit.agents.get(agentId)?.registration_id

const loadIncident = ({ source, unit }: Reading, incident: IncidentRecord): void =>
  unit.loadIncident(incident, source.outboxOf(incident.id), source.alertsOf(incident.id))

const loaders: { readonly [P in Part]: (reading: Reading, asked: Asked<P>) => void } = {
  skipLocked: () => {},
  agents: ({ source, unit }, ids) => {
    for (const id of ids) unit.agents.load(id, source.agent(id))
  },
  checks: ({ source, unit }, { agent_id, check_ids }) => {
    const registration_id = registrationOf(unit, agent_id)
    if (registration_id === undefined) return
    const names = new CheckCursor({ agent_id, registration_id })
    for (const check_id of check_ids) {
      const ref = names.at(check_id)
      unit.checks.load(ref, source.check(ref))
    }
  },
  history: ({ source, unit }, { agent_id, event_ids }) => {
    const registration_id = registrationOf(unit, agent_id)
    if (registration_id === undefined) return
    unit.knownEvents.load(
      registration_id,
      event_ids,
      source.knownEvents(agent_id, registration_id, event_ids),
    )
  },
  incidents: (reading, ids) => {
    for (const id of ids) {
      const incident = reading.source.incident(id)
      if (incident === undefined) reading.unit.incidents.load(id, undefined)
      else loadIncident(reading, incident)
    }
  },
  openIncidents: (reading, refs) => {
    for (const ref of refs) {
      const incident = reading.source.openIncident(ref)
      if (incident === undefined) reading.unit.openIncidents.load(ref, undefined)
      else loadIncident(reading, incident)
    }
  },
  worstMembers: ({ source, unit }, { incident_id, limit }) => {
    // One more row shows whether these are all.
    const found = source.worstMembers(incident_id, limit + 1)
    const worst = found.slice(0, limit)
    for (const member of worst) unit.members.load(member, member)
    unit.rankings.set(incident_id, { limit, floor: worst.at(-1), complete: found.length <= limit })
  },
  rows: ({ source, unit }, asked) =>
    ofEachTable<Keys>(asked, (name, keys) => {
      const table = unit.of(name)
      for (const key of keys) table.load(key, source.row(name, key))
    }),
  groups: ({ source, unit }, asked) =>
    ofEachTable<Groups>(asked, (name, groups) => {
      for (const group of groups) unit.keyed.loadGroups(name, [group], source.group(name, group))
    }),
  pendingAgents: ({ source, unit }) => unit.loadPendingAgents(source.pendingAgents()),
}

/**
 * Loads the parts that a request has. It does not look at all the others, of which requests lack
 * most: reading absent properties of objects of many shapes is slow.
 */
const loadParts = (reading: Reading, request: RowRequest): void => {
  // Other parts read the agents of the same request.
  if (request.agents !== undefined) loaders.agents(reading, request.agents)
  // A request has no other keys than those of its type.
  for (const part of Object.keys(request) as Array<Part>) {
    if (part === "agents") continue
    const asked = request[part]
    if (asked !== undefined) loadPart(reading, part, asked)
  }
}

const loadPart = <P extends Part>(reading: Reading, part: P, asked: Asked<P>): void =>
  loaders[part](reading, asked)

/** Answers a step of a decision: loads the rows of a request, or returns what a search finds. */
export const answer = (source: RowSource, unit: UnitOfWork, now: Instant, step: Step): unknown => {
  const reading = { source, unit, now }
  return step instanceof Search ? search(reading, step) : loadParts(reading, step)
}

const search = <N extends SearchName>(reading: Reading, { asked, name }: Search<N>): Found<N> =>
  searches[name](reading, asked)
