import { Duration } from "effect"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { CheckName } from "../model/CheckRecord.ts"
import type { IncidentId } from "@tocsin/contract/Identifiers"
import type { Labels } from "@tocsin/contract/Labels"
import * as Instant from "@tocsin/contract/Instant"
import type { Decision } from "../engine/unitOfWork/Decision.ts"
import type { LoudMember } from "../engine/unitOfWork/SearchResults.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { memberCount } from "../model/memberCounts.ts"
import type { OutboxRecord } from "../model/OutboxRecord.ts"
import { compilePolicy, type Policy } from "../policy/compilePolicy.ts"
import type { CountOpenings, Routing } from "../policy/routing.ts"
import { defaultRules } from "../ports/RuleSettings.ts"
import type { MatchedFacts } from "@tocsin/contract/Matcher"
import { mergeLabels } from "./mergeLabels.ts"
import { activeMutes } from "./activeMutes.ts"
import { firingHolds, incidentHolds, type HoldContext } from "./firingHolds.ts"
import { type Mutes, mutingHolds, type Hold, type LoudMembers } from "./computeHolds.ts"
import { endAfterGrace, outageGraceAt, type OutageGrace } from "./outageGrace.ts"

/** What decides on holds besides rows. */
export interface HoldOptions {
  /** The policy in force; each decision reads it once. */
  readonly policy: () => Policy
  /** After this silence of the service, its return is the end of an outage. */
  readonly staleAfter: Duration.Duration
}

interface GatherOptions extends HoldOptions {
  /** Whether the routes of incidents count, and not only their holds. */
  readonly isRouted?: boolean
  /** These instead of the silences and windows in force. */
  readonly mutes?: Mutes
}

/** The holds on the firings of some incidents at a moment. */
export interface Holds {
  /** The holds on an outbox item of one of these incidents; none on one that cannot be held. */
  readonly onItem: (incident: IncidentRecord, item: OutboxRecord) => ReadonlyArray<Hold>
  /** The holds on a firing that one of these incidents would get now; none if it has resolved. */
  readonly onIncident: (incident: IncidentRecord) => ReadonlyArray<Hold>
  /** The silences and windows that cover one of these incidents. */
  readonly covering: (incident: IncidentRecord) => ReadonlyArray<Hold>
  /** The end of its acknowledgement: later, if that ran out during an outage. */
  readonly acknowledgedUntil: (incident: IncidentRecord) => Instant.Instant | undefined
  /** The routes of its worst loud member; absent if it has none. */
  readonly routing: (incident: IncidentRecord) => Routing | undefined
}

/** Without a policy: acknowledgements and silences hold. */
export const WITHOUT_POLICY: HoldOptions = { policy: () => NO_POLICY, staleAfter: defaultRules.staleAfter }
const NO_POLICY = compilePolicy({}, [])

/** An incident with more present members than this is a crowd (docs/rules.md#mutes). */
const CROWD = 500

/**
 * Reads what the holds on incidents are decided from. Their locks, if the caller holds them, guard
 * their members; nothing else is locked.
 */
export function* gatherHolds(
  unit: UnitOfWork,
  incidents: ReadonlyArray<IncidentRecord>,
  { mutes: given, isRouted = false, policy: policyInForce, staleAfter }: GatherOptions,
  now: Instant.Instant,
): Decision<Holds> {
  const policy = policyInForce()
  const grace = yield* readSilences(unit, now, staleAfter)
  const silences = unit.searchResults.silencesInForce
  const mutes = given ?? activeMutes({ policy, silences, grace }, now)
  const open = distinct(incidents.filter(({ state }) => state === "open"))
  const needsMembers = isRouted || mutes.mutes.length > 0 || policy.hasRoutes
  const evaluated = needsMembers ? yield* evaluateMembers(unit, open, mutes) : NONE_EVALUATED
  const openings = yield* readOpenings(unit, open, policy.flapping)
  const routing = (incident: IncidentRecord): Routing | undefined => {
    const worst = evaluated.get(incident.id)?.worst
    return worst && policy.route(factsOf(incident, worst))
  }
  const covering = (incident: IncidentRecord) => evaluated.get(incident.id)?.covering ?? []
  const contextOf = (incident: IncidentRecord): HoldContext => ({
    after: routing(incident)?.after(openings(incident)) ?? Duration.zero,
    grace,
    covering: covering(incident),
  })
  const contexts = new Map<IncidentId, HoldContext>()
  const knownContext = (incident: IncidentRecord): HoldContext => {
    const context = contexts.get(incident.id) ?? contextOf(incident)
    contexts.set(incident.id, context)
    return context
  }
  return {
    routing,
    covering,
    acknowledgedUntil: ({ ack_until }) => ack_until && endAfterGrace(ack_until, grace),
    onItem: (incident, item) => firingHolds(incident, item, knownContext(incident), now),
    onIncident: (incident) => incidentHolds(incident, knownContext(incident), now),
  }
}

interface Evaluated {
  readonly worst: LoudMember | undefined
  readonly covering: ReadonlyArray<Hold>
}

const NONE_EVALUATED: ReadonlyMap<IncidentId, Evaluated> = new Map()

/** Finds the worst loud member of each open incident and the mutes that cover it, a few incidents at a time. */
function* evaluateMembers(
  unit: UnitOfWork,
  open: ReadonlyArray<IncidentRecord>,
  mutes: Mutes,
): Decision<ReadonlyMap<IncidentId, Evaluated>> {
  const evaluated = new Map<IncidentId, Evaluated>()
  const isCovered = mutes.mutes.length > 0
  let rest = open
  while (rest.length > 0) {
    const piece = isCovered ? firstPiece(rest) : rest
    rest = rest.slice(piece.length)
    yield { loudMembers: piece.map((incident) => membersAsked(incident, isCovered)) }
    for (const incident of piece) {
      const loud = unit.searchResults.loudMembers.get(incident.id) ?? []
      const covering = mutingHolds({ mutes, loud: loudFacts(incident, loud) })
      evaluated.set(incident.id, { worst: loud[0], covering })
    }
  }
  return evaluated
}

const hasTooManyMembers = (incident: IncidentRecord): boolean => memberCount(incident) > CROWD

/** Most members that are evaluated together; one incident may have all of them. */
const EVALUATED_TOGETHER = 2_000

/** The first of these incidents, whose members are evaluated together: at least one incident. */
const firstPiece = (incidents: ReadonlyArray<IncidentRecord>): ReadonlyArray<IncidentRecord> => {
  let members = 0
  const end = incidents.findIndex((incident, n) => {
    members += hasTooManyMembers(incident) ? 1 : memberCount(incident)
    return n > 0 && members > EVALUATED_TOGETHER
  })
  return end === -1 ? incidents : incidents.slice(0, end)
}

const distinct = (incidents: ReadonlyArray<IncidentRecord>): ReadonlyArray<IncidentRecord> =>
  Array.from(new Map(incidents.map((incident) => [incident.id, incident])).values())

/** All decide on covers. For the routes, and in a crowd, the worst loud member is enough. */
const membersAsked = (incident: IncidentRecord, isCovered: boolean) => ({
  incident_id: incident.id,
  limit: isCovered && !hasTooManyMembers(incident) ? CROWD : 1,
})

/** Finds the silences in force; also those that ended in an outage which agents may still have to report from. */
function* readSilences(
  unit: UnitOfWork,
  now: Instant.Instant,
  staleAfter: Duration.Duration,
): Decision<OutageGrace | undefined> {
  yield { silencesInForce: { endingAfter: now } }
  const grace = outageGraceAt(unit.searchResults.serviceHeartbeat, now, staleAfter)
  if (grace !== undefined) yield { silencesInForce: { endingAfter: grace.began_at } }
  return grace
}

/** Counts how often the key of an incident was opened in a span until it opened. */
function* readOpenings(
  unit: UnitOfWork,
  incidents: ReadonlyArray<IncidentRecord>,
  flapping: Policy["flapping"],
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
  return ({ id, opened_at }) =>
    (within) => {
      const since = Instant.minus(opened_at, within)
      return (openings.get(id) ?? []).filter((at) => at > since).length
    }
}

const loudFacts = (incident: IncidentRecord, loud: ReadonlyArray<LoudMember>): LoudMembers => {
  const [worst] = loud
  if (worst === undefined) return { kind: "listed", members: [] }
  const { incident_key, severity } = incident
  if (hasTooManyMembers(incident)) return { kind: "too_many", shared: { incident_key, severity } }
  if (!isOfAgent(incident))
    return { kind: "listed", members: loud.map((member) => factsOf(incident, member)) }
  const { agent_id, hostname, labels } = matchedFacts(incident, worst.member, worst.agent)
  return { kind: "listed", members: [{ agent_id, hostname, labels, incident_key, severity }] }
}

/** Whether an incident is about one agent: its heartbeat, or its overdue checks. No ID contains an `@`. */
const isOfAgent = ({ incident_key, kind }: IncidentRecord): boolean =>
  kind === "automatic" && incident_key.includes("/@")

const factsOf = (incident: IncidentRecord, { agent, labels, member }: LoudMember): MatchedFacts =>
  matchedFacts(incident, member, agent, labels)

/**
 * What matchers compare of a member of an incident; its agent may be gone. Matchers on `severity`
 * compare the incident's.
 */
export const matchedFacts = (
  { incident_key, severity }: IncidentRecord,
  { agent_id, check_id }: CheckName,
  { hostname = "", labels }: Partial<Pick<AgentRecord, "hostname" | "labels">> = {},
  ofCheck?: Labels,
): MatchedFacts => ({
  agent_id,
  check_id,
  incident_key,
  severity,
  hostname,
  labels: mergeLabels(labels, ofCheck),
})
