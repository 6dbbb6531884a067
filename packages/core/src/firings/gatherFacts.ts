import type { Duration } from "effect"
import type { CheckName } from "../model/CheckRecord.ts"
import type { IncidentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { FoundRunbook } from "@tocsin/contract/PolicyDocument"
import type { Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import type { LoudMember } from "../engine/unitOfWork/SearchResults.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { memberCount } from "../model/memberCounts.ts"
import { compareMembers, type MemberRecord } from "../model/MemberRecord.ts"
import type { OutboxRecord } from "../model/OutboxRecord.ts"
import { compilePolicy, type Policy } from "../policy/compilePolicy.ts"
import type { CountOpenings, Naming } from "../policy/routing.ts"
import { defaultRules } from "../ports/RuleSettings.ts"
import { afterHolds, type FiringFacts } from "./decideFirings.ts"
import { incidentHolds, type Hold } from "./Hold.ts"
import { canBeHeld } from "./heldItems.ts"
import { activeMutes, type LoudMembers, type Mutes, mutingHolds } from "./mutes.ts"
import { matchedFacts, MOST_MEMBERS, nameReceivers } from "./nameReceivers.ts"
import { outageGraceAt } from "./outageGrace.ts"
import { quietHolds, quietReceivers, sharedQuiet } from "./quietHolds.ts"

/** The options of decisions on firings. */
export interface FiringOptions {
  /** The policy in force; each decision reads it once. */
  readonly policy: () => Policy
  /** After this silence of the service, its return is the end of an outage. */
  readonly staleAfter: Duration.Duration
}

/** Without a policy: acknowledgements and silences hold. */
export const WITHOUT_POLICY: FiringOptions = {
  policy: () => NO_POLICY,
  staleAfter: defaultRules.staleAfter,
}
const NO_POLICY = compilePolicy({}, [])

interface GatherOptions extends FiringOptions {
  /** These instead of the silences and windows in force. */
  readonly mutes?: Mutes
  /** Whether facts of later moments are needed, at which other windows may be in force. */
  readonly looksAhead?: boolean
}

/** The facts about the firings of some incidents at a moment. */
export interface Gathered {
  readonly facts: (incident: IncidentRecord, firings: ReadonlyArray<OutboxRecord>) => FiringFacts
  /** The same as they are at a later moment if nothing happens until then: silences, windows and quiet hours. */
  readonly factsAt: (facts: FiringFacts, at: Instant.Instant) => FiringFacts
  /** The silences and windows that cover one of these incidents. */
  readonly covering: (incident: IncidentRecord) => ReadonlyArray<Hold>
  /** The holds of a firing of one of these incidents that is due; none of one that cannot be held. */
  readonly onDue: (incident: IncidentRecord, item: OutboxRecord) => ReadonlyArray<Hold>
  /** The runbook of the worst check of one of these incidents, if it is open. */
  readonly runbookOf: (incident: IncidentRecord) => FoundRunbook | undefined
  /** The holds of a firing for a receiver that knows nothing of one of these incidents. */
  readonly onNew: (incident: IncidentRecord) => ReadonlyArray<Hold>
}

/** Reads the silences in force, and what decides on the incidents. Locks nothing. */
export function* gatherFacts(
  unit: UnitOfWork,
  incidents: ReadonlyArray<IncidentRecord>,
  { looksAhead = false, mutes: given, policy: policyInForce, staleAfter }: GatherOptions,
  now: Instant.Instant,
): Decision<Gathered> {
  const policy = policyInForce()
  yield { silencesInForce: { endingAfter: now } }
  const { serviceHeartbeat, silencesInForce } = unit.searchResults
  const grace = outageGraceAt(serviceHeartbeat, now, staleAfter)
  const mutes = given ?? activeMutes(policy, silencesInForce, now)
  const quiet = quietReceivers(policy, now)
  const open = distinct(incidents.filter(({ state }) => state === "open"))
  const namings = new Map<IncidentId, Naming | undefined>()
  const covers = new Map<IncidentId, ReadonlyArray<Hold>>()
  const listed = new Map<IncidentId, LoudMembers>()
  const runbooks = new Map<IncidentId, FoundRunbook | undefined>()
  const openings = yield* readOpenings(unit, open, policy)
  const mayBeMuted = mutes.mutes.length > 0 || (looksAhead && policy.windows.length > 0)
  for (const piece of piecesOf(open, EVALUATED_TOGETHER)) {
    const limit = mayBeMuted || policy.hasRoutes ? MOST_MEMBERS : 1
    const loud = yield* readLoudMembers(unit, piece, { limit })
    for (const incident of piece) {
      const members = loud.get(incident.id) ?? []
      namings.set(incident.id, nameReceivers(policy, incident, members, openings(incident)))
      runbooks.set(incident.id, runbookOf(policy, incident, members))
      const compared = loudFacts(incident, members)
      covers.set(incident.id, mutingHolds(mutes, compared))
      if (looksAhead) listed.set(incident.id, compared)
    }
  }
  const covering = (incident: IncidentRecord) => covers.get(incident.id) ?? []
  const common = (incident: IncidentRecord) =>
    incident.state === "open" ? [...incidentHolds(incident, now), ...covering(incident)] : []
  return {
    covering,
    runbookOf: ({ id }) => runbooks.get(id),
    facts: (incident, firings) => ({
      incident,
      firings,
      naming: namings.get(incident.id),
      covering: covering(incident),
      quiet,
      grace,
      receivers: policy.receivers,
      hasRoutes: policy.hasRoutes,
    }),
    factsAt: (facts, at) => {
      const compared = listed.get(facts.incident.id)
      const present = activeMutes(policy, silencesInForce, at)
      return {
        ...facts,
        covering: compared === undefined ? [] : mutingHolds(present, compared),
        quiet: quietReceivers(policy, at),
      }
    },
    onDue: (incident, item) =>
      canBeHeld(item) ? [...common(incident), ...quietHolds(quiet, item.receiver, incident)] : [],
    onNew: (incident) => {
      const naming = namings.get(incident.id)
      if (naming === undefined) return common(incident)
      return [
        ...afterHolds(incident, naming, now),
        ...common(incident),
        ...sharedQuiet(quiet, naming.named.keys(), incident),
      ]
    },
  }
}

const runbookOf = (policy: Policy, incident: IncidentRecord, [worst]: ReadonlyArray<LoudMember>) =>
  worst && policy.runbookOf(matchedFacts(incident, worst.member, worst.agent, worst.labels), worst.labels)

/** Most members whose incidents one transaction evaluates; one incident may have more. */
export const MOST_EVALUATED = 5_000

/** Most members that are evaluated together; one incident may have all of them. */
const EVALUATED_TOGETHER = 2_000

const evaluatedMembers = (incident: IncidentRecord): number => Math.min(memberCount(incident), MOST_MEMBERS)

/** The first of these incidents, as many as have so many members: at least one. */
export const firstPiece = (
  incidents: ReadonlyArray<IncidentRecord>,
  most: number,
): ReadonlyArray<IncidentRecord> => {
  let members = 0
  const end = incidents.findIndex((incident, n) => {
    members += evaluatedMembers(incident)
    return n > 0 && members > most
  })
  return end === -1 ? incidents : incidents.slice(0, end)
}

/** All of these incidents, in pieces with so many members. */
export const piecesOf = (
  incidents: ReadonlyArray<IncidentRecord>,
  most: number,
): ReadonlyArray<ReadonlyArray<IncidentRecord>> => {
  const pieces: Array<ReadonlyArray<IncidentRecord>> = []
  for (let rest = incidents; rest.length > 0; rest = rest.slice(pieces.at(-1)?.length))
    pieces.push(firstPiece(rest, most))
  return pieces
}

const distinct = (incidents: ReadonlyArray<IncidentRecord>): ReadonlyArray<IncidentRecord> =>
  Array.from(new Map(incidents.map((incident) => [incident.id, incident])).values())

/**
 * Reads the worst loud present members of incidents, and their agents, as this transaction leaves them.
 * Needs no read where all present members are loaded.
 */
export function* readLoudMembers(
  unit: UnitOfWork,
  incidents: ReadonlyArray<IncidentRecord>,
  { limit, readsLabels = false }: { readonly limit: number; readonly readsLabels?: boolean },
): Decision<ReadonlyMap<IncidentId, ReadonlyArray<LoudMember>>> {
  const unread = incidents.filter((incident) => {
    const loaded = unit.membersOf(incident.id)
    return (
      loaded.length < memberCount(incident) || !loaded.every(({ agent_id }) => unit.agents.isLoaded(agent_id))
    )
  })
  // Loaded members may have left or improved since: as many more are read.
  const limitOf = (id: IncidentId) => limit + unit.members.group(`incident/${id}`).length
  if (unread.length > 0)
    yield { loudMembers: unread.map(({ id }) => ({ incident_id: id, limit: limitOf(id) })) }
  const { loudMembers } = unit.searchResults
  const read = new Map<IncidentId, ReadonlyArray<LoudMember>>()
  for (const incident of incidents) {
    const found = new Map<string, LoudMember>()
    if (unread.includes(incident))
      for (const loud of loudMembers.get(incident.id) ?? []) found.set(keyOf(loud.member), loud)
    for (const member of unit.members.group(`incident/${incident.id}`)) {
      const stored = found.get(keyOf(member))
      found.set(keyOf(member), stored ? { ...stored, member } : yield* joined(unit, member, readsLabels))
    }
    const present = Array.from(found.values()).filter(
      ({ member }) => member.is_loud && member.left_at === undefined,
    )
    read.set(incident.id, present.toSorted((a, b) => compareMembers(a.member, b.member)).slice(0, limit))
  }
  return read
}

const keyOf = ({ agent_id, check_id }: CheckName): string => `${agent_id}/${check_id}`

/** A member that is loaded, with its agent. */
function* joined(unit: UnitOfWork, member: MemberRecord, readsLabels: boolean): Decision<LoudMember> {
  const { agent_id, check_id } = member
  const agent = unit.agents.isLoaded(agent_id) ? unit.agents.get(agent_id) : undefined
  if (agent === undefined || !readsLabels || check_id.startsWith("@"))
    return { member, agent, labels: undefined }
  const ref = { agent_id, registration_id: agent.registration_id, check_id }
  yield* load(unit, { rows: { expectation: [ref] } })
  return { member, agent, labels: unit.expectations.get(ref)?.labels }
}

/** Counts how often the key of an incident was opened in a span until it opened. */
export function* readOpenings(
  unit: UnitOfWork,
  incidents: ReadonlyArray<IncidentRecord>,
  { flapping }: Pick<Policy, "flapping">,
): Decision<(incident: IncidentRecord) => CountOpenings> {
  if (flapping === undefined || incidents.length === 0) return () => () => 0
  yield {
    openings: incidents.map((incident) => ({
      incident,
      since: Instant.minus(incident.opened_at, flapping.within),
      until: incident.opened_at,
      limit: flapping.openings,
    })),
  }
  const { openings } = unit.searchResults
  // Searches do not see what this transaction opened.
  const opened = unit.incidents
    .changes()
    .flatMap(({ after, before }) => (before === undefined && after ? [after] : []))
  return ({ id, incident_key, kind, opened_at }) =>
    (within) => {
      const since = Instant.minus(opened_at, within)
      const own = opened.filter((other) => other.incident_key === incident_key && other.kind === kind)
      return [...(openings.get(id) ?? []), ...own.map((other) => other.opened_at)].filter((at) => at > since)
        .length
    }
}

const loudFacts = (incident: IncidentRecord, loud: ReadonlyArray<LoudMember>): LoudMembers => {
  const [worst] = loud
  if (worst === undefined) return { kind: "listed", members: [] }
  const { incident_key, severity } = incident
  if (memberCount(incident) > MOST_MEMBERS) return { kind: "too_many", shared: { incident_key, severity } }
  if (!isOfAgent(incident)) {
    const members = loud.map(({ agent, labels, member }) => matchedFacts(incident, member, agent, labels))
    return { kind: "listed", members }
  }
  const { agent_id, hostname, labels } = matchedFacts(incident, worst.member, worst.agent)
  return { kind: "listed", members: [{ agent_id, hostname, labels, incident_key, severity }] }
}

/** Whether an incident is about one agent: its heartbeat, or its overdue checks. No ID contains an `@`. */
const isOfAgent = ({ incident_key, kind }: IncidentRecord): boolean =>
  kind === "automatic" && incident_key.includes("/@")
