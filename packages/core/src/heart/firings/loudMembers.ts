import type { IncidentId } from "@tocsin/contract/formats/Identifiers"
import type { Labels } from "@tocsin/contract/labels/Labels"
import type { MatchedFacts } from "@tocsin/contract/labels/Matcher"
import { type Decision, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import { find, type LoudMember } from "../../kernel/unitOfWork/Search.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { CheckName } from "../../kernel/model/CheckRef.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { memberCount, type MemberRecord } from "../model/MemberRecord.ts"
import { compareMembers } from "../../kernel/unitOfWork/Standings.ts"

/** An incident with more present members than this is evaluated by this many (docs/rules.md#mutes). */
export const MOST_MEMBERS = 500

/** Most members whose incidents one transaction evaluates; one incident may have more. */
export const MOST_EVALUATED = 5_000

/** Most members that are evaluated together, or by a transaction that only reads; one incident may have all of them. */
export const EVALUATED_TOGETHER = 2_000

const evaluatedMembers = (incident: IncidentRecord): number => Math.min(memberCount(incident), MOST_MEMBERS)

/** The first of these incidents: at least one, and more while they have at most so many members together. */
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

/** All of these incidents, in pieces of at most so many members; one incident may have more. */
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
  const stored = yield* readStored(
    unit,
    Array.from(unread, ({ id }) => ({ id, limit: limitOf(id) })),
  )
  const read = new Map<IncidentId, ReadonlyArray<LoudMember>>()
  for (const incident of incidents) {
    const found = new Map<string, LoudMember>()
    for (const loud of stored.get(incident.id) ?? []) found.set(keyOf(loud.member), asLoaded(unit, loud))
    for (const member of unit.members.group(`incident/${incident.id}`)) {
      const known = found.get(keyOf(member))
      found.set(keyOf(member), known ? { ...known, member } : yield* joined(unit, member, readsLabels))
    }
    const present = Array.from(found.values()).filter(
      ({ member }) => member.is_loud && member.left_at === undefined,
    )
    read.set(incident.id, present.toSorted((a, b) => compareMembers(a.member, b.member)).slice(0, limit))
  }
  return read
}

/** As many more are read as one batch may change, so that its events need one read together. */
const READ_AHEAD = 200

interface StoredMembers {
  readonly limit: number
  readonly members: ReadonlyArray<LoudMember>
}

/** Reads stored loud members. Those of a locked incident change in this transaction alone, and are read once. */
function* readStored(
  unit: UnitOfWork,
  wanted: ReadonlyArray<{ readonly id: IncidentId; readonly limit: number }>,
): Decision<ReadonlyMap<IncidentId, ReadonlyArray<LoudMember>>> {
  const known = new Map<IncidentId, ReadonlyArray<LoudMember>>()
  const asked: Array<{ readonly incident_id: IncidentId; readonly limit: number }> = []
  for (const { id, limit } of wanted) {
    // Kept below, under this name.
    const kept = unit.found.get(`loudMembers ${id}`) as StoredMembers | undefined
    if (kept !== undefined && (kept.limit >= limit || kept.members.length < kept.limit))
      known.set(id, kept.members)
    else asked.push({ incident_id: id, limit: limit + (unit.incidents.isLoaded(id) ? READ_AHEAD : 0) })
  }
  if (asked.length === 0) return known
  const found = yield* find("loudMembers", asked)
  for (const { incident_id: id, limit } of asked) {
    const stored: StoredMembers = { limit, members: found.get(id) ?? [] }
    if (unit.incidents.isLoaded(id)) unit.found.set(`loudMembers ${id}`, stored)
    known.set(id, stored.members)
  }
  return known
}

/** A stored member with the agent and the labels that this transaction leaves. */
const asLoaded = (unit: UnitOfWork, stored: LoudMember): LoudMember => {
  const { agent_id, check_id } = stored.member
  if (!unit.agents.isLoaded(agent_id)) return stored
  const agent = unit.agents.get(agent_id)
  const ref = agent && { agent_id, registration_id: agent.registration_id, check_id }
  const labels = unit.of("check_label")
  const isKnown = ref !== undefined && labels.isLoaded(ref)
  return { ...stored, agent, labels: isKnown ? labels.get(ref)?.labels : stored.labels }
}

const keyOf = ({ agent_id, check_id }: CheckName): string => `${agent_id}/${check_id}`

function* joined(unit: UnitOfWork, member: MemberRecord, readsLabels: boolean): Decision<LoudMember> {
  const { agent_id, check_id } = member
  const agent = unit.agents.isLoaded(agent_id) ? unit.agents.get(agent_id) : undefined
  if (agent === undefined || !readsLabels || check_id.startsWith("@"))
    return { member, agent, labels: undefined }
  const ref = { agent_id, registration_id: agent.registration_id, check_id }
  const label = yield* loadRow(unit, "check_label", ref)
  return { member, agent, labels: label?.labels }
}

/** The facts of an incident's loud present members that matchers compare. */
export type LoudFacts =
  | { readonly kind: "listed"; readonly members: ReadonlyArray<Partial<MatchedFacts>> }
  /** Too many to compare: only what all of them share counts. These are the worst. */
  | {
      readonly kind: "too_many"
      readonly shared: Pick<MatchedFacts, "incident_key" | "severity">
      readonly members: ReadonlyArray<Partial<MatchedFacts>>
    }

/** {@link LoudFacts} of an incident with these loud members. */
export const loudFacts = (incident: IncidentRecord, loud: ReadonlyArray<LoudMember>): LoudFacts => {
  const members = loud.map(({ agent, labels, member }) => silencedFacts(incident, member, agent, labels))
  if (members.length === 0 || memberCount(incident) <= MOST_MEMBERS) return { kind: "listed", members }
  const { incident_key, severity } = incident
  return { kind: "too_many", shared: { incident_key, severity }, members }
}

/**
 * The facts of an incident's member that silences, windows and dependencies compare: no check of an incident
 * about one agent, unless the member would have its own.
 */
export const silencedFacts = (
  incident: Pick<IncidentRecord, "incident_key" | "kind" | "severity">,
  member: CheckName & Pick<MemberRecord, "is_own">,
  agent: AgentRecord | undefined,
  labels: Labels | undefined,
): Partial<MatchedFacts> => {
  if (member.is_own === true || !isAboutAgent(incident)) return matchedFacts(incident, member, agent, labels)
  const { check_id: _, ...facts } = matchedFacts(incident, member, agent)
  return facts
}

/** Whether an incident is about one agent: its heartbeat, or its late checks. No ID contains an `@`. */
const isAboutAgent = ({ incident_key, kind }: Pick<IncidentRecord, "incident_key" | "kind">): boolean =>
  kind === "automatic" && incident_key.includes("/@")

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
