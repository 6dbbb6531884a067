import { Duration } from "effect"
import type { Labels } from "@tocsin/contract/Labels"
import type { MatchedFacts } from "@tocsin/contract/Matcher"
import type { Severity, NotifierName } from "@tocsin/contract/Status"
import type { LoudMember } from "../engine/unitOfWork/RowRequest.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { CheckName } from "../model/CheckRecord.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { memberCount, compareMembers, type MemberRecord } from "../model/MemberRecord.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import type { CountOpenings, NamedReceivers, Naming, RouteId } from "../policy/routing.ts"
import { isBelow } from "./Hold.ts"
import * as Instant from "@tocsin/contract/Instant"
import { reachedAt, SEVERITIES } from "../model/Announced.ts"
import type { Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import type { IncidentId } from "@tocsin/contract/Identifiers"
import type { LoudMembers } from "./mutes.ts"

/** Most members whose incidents one transaction evaluates; one incident may have more. */
export const MOST_EVALUATED = 5_000

/** Most members that are evaluated together; one incident may have all of them. */
export const EVALUATED_TOGETHER = 2_000

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

/**
 * Reads the worst loud present members of incidents, and their agents, as this transaction leaves them.
 * Needs no read where all present members are loaded.
 */
export function* readLoudMembers(
  unit: UnitOfWork,
  incidents: ReadonlyArray<IncidentRecord>,
  { limit, readsLabels = false }: { readonly limit: number; readonly readsLabels?: boolean },
): Decision<ReadonlyMap<IncidentId, ReadonlyArray<LoudMember>>> {
  const isUnread = (incident: IncidentRecord) => {
    const loaded = unit.membersOf(incident.id)
    return (
      loaded.length < memberCount(incident) || !loaded.every(({ agent_id }) => unit.agents.isLoaded(agent_id))
    )
  }
  const unread = new Set(incidents.filter(isUnread))
  // Loaded members may have left or improved since: as many more are read.
  const limitOf = (id: IncidentId) => limit + unit.members.group(`incident/${id}`).length
  if (unread.size > 0)
    yield { loudMembers: Array.from(unread, ({ id }) => ({ incident_id: id, limit: limitOf(id) })) }
  const { loudMembers } = unit.searchResults
  const read = new Map<IncidentId, ReadonlyArray<LoudMember>>()
  for (const incident of incidents) {
    const found = new Map<string, LoudMember>()
    if (unread.has(incident))
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

function* joined(unit: UnitOfWork, member: MemberRecord, readsLabels: boolean): Decision<LoudMember> {
  const { agent_id, check_id } = member
  const agent = unit.agents.isLoaded(agent_id) ? unit.agents.get(agent_id) : undefined
  if (agent === undefined || !readsLabels || check_id.startsWith("@"))
    return { member, agent, labels: undefined }
  const ref = { agent_id, registration_id: agent.registration_id, check_id }
  yield* load(unit, { rows: { expectation: [ref] } })
  return { member, agent, labels: unit.expectations.get(ref)?.labels }
}

/** The facts of the loud present members of an incident that matchers compare. */
export const loudFacts = (incident: IncidentRecord, loud: ReadonlyArray<LoudMember>): LoudMembers => {
  const [worst] = loud
  if (worst === undefined) return { kind: "listed", members: [] }
  const { incident_key, severity } = incident
  const factsOf = ({ agent, labels, member }: LoudMember) => matchedFacts(incident, member, agent, labels)
  if (memberCount(incident) > MOST_MEMBERS)
    return { kind: "too_many", shared: { incident_key, severity }, members: loud.map(factsOf) }
  if (!isOfAgent(incident)) return { kind: "listed", members: loud.map(factsOf) }
  const { agent_id, hostname, labels } = matchedFacts(incident, worst.member, worst.agent)
  return { kind: "listed", members: [{ agent_id, hostname, labels, incident_key, severity }] }
}

/** Whether an incident is about one agent: its heartbeat, or its overdue checks. No ID contains an `@`. */
const isOfAgent = ({ incident_key, kind }: IncidentRecord): boolean =>
  kind === "automatic" && incident_key.includes("/@")

/** An incident with more present members than this is evaluated by this many (docs/rules.md#mutes). */
export const MOST_MEMBERS = 500

/** Finds whom the routes of these loud members name. */
export const nameReceivers = (
  policy: Policy,
  incident: IncidentRecord,
  loud: ReadonlyArray<LoudMember>,
  countOpenings: CountOpenings,
): Naming | undefined => {
  if (loud.length === 0) return undefined
  if (!policy.hasRoutes) return policy.everyone
  const known = new Map<Severity, NamedReceivers>()
  const nameAs = (most: Severity): NamedReceivers => {
    const before = known.get(most)
    if (before !== undefined) return before
    const found = new Set<RouteId>()
    for (const { agent, labels, member } of loud) {
      const severity = isBelow(most, member.severity) ? most : member.severity
      policy.routes.match(matchedFacts({ ...incident, severity }, member, agent, labels), found)
    }
    const named = policy.routes.name(found, countOpenings)
    known.set(most, named)
    return named
  }
  const named = nameAs("critical")
  return {
    named,
    at: (severity) => (policy.routesBySeverity ? nameAs(severity) : named),
    isCut: loud.length >= MOST_MEMBERS && memberCount(incident) > MOST_MEMBERS,
  }
}

/** The facts of an incident's member that matchers compare; its agent may be gone. */
export const matchedFacts = (
  { incident_key, severity }: Pick<IncidentRecord, "incident_key" | "severity">,
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

const NONE: Labels = {}

/** The labels that matchers compare: those of the check, and of its agent where the check has no such name. */
export const mergeLabels = (ofAgent: Labels = NONE, ofCheck: Labels | undefined): Labels =>
  ofCheck === undefined ? ofAgent : { ...ofAgent, ...ofCheck }

/** When a receiver is due by its step, which it is at once if it was notified of the incident before. */
export interface Due {
  readonly at: Instant.Instant
  readonly isLater: boolean
  /** Whether its row is written before it is due. */
  readonly isWritten: boolean
  /** Whether it waits from its event on; a firing without a delay is due at its event. */
  readonly isDelayed: boolean
}

/** When the routes want a receiver to be notified that knows nothing: the least over what was announced. */
export const dueByRoutes = (
  incident: IncidentRecord,
  naming: Naming,
  receiver: NotifierName,
): Due | undefined => {
  const { announced } = incident
  if (announced === undefined) return undefined
  let due: Due | undefined
  const isFirst = naming.named.get(receiver)?.isFirst === true
  const consider = (severity: Severity, named: NamedReceivers) => {
    const [reached, step] = [reachedAt(incident, severity), named.get(receiver)]
    if (reached === undefined || step === undefined) return
    const at = Instant.plus(reached, step.delay)
    const isEarlier = due === undefined || at < due.at || (at === due.at && due.isLater && !step.isLater)
    if (isEarlier)
      due = {
        at,
        isLater: step.isLater,
        isWritten: isFirst || !step.isLater,
        isDelayed: !Duration.isZero(step.delay),
      }
  }
  for (const severity of SEVERITIES)
    if (!isBelow(announced, severity)) consider(severity, naming.at(severity))
  // Only a member that worsened silently may name it.
  if (due === undefined) consider(announced, naming.named)
  return due
}

/** When the routes of an incident want the first receiver to be notified. */
export const firstDue = (incident: IncidentRecord, naming: Naming): Instant.Instant | undefined =>
  Instant.earliest(
    Array.from(naming.named.keys()).flatMap((receiver) => dueByRoutes(incident, naming, receiver)?.at ?? []),
  )
