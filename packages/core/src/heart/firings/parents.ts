import { Duration } from "effect"
import { type IncidentId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Matcher } from "@tocsin/contract/labels/Matcher"
import type { Decision } from "../../kernel/unitOfWork/Decision.ts"
import { asChanged, find } from "../../kernel/unitOfWork/Search.ts"
import type { Change } from "../../kernel/unitOfWork/Table.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { type AgentRecord, isSilent } from "../model/AgentRecord.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { HEARTBEAT, isBelow } from "../model/MemberRecord.ts"
import { type Severity, SEVERITY_RANK } from "@tocsin/contract/formats/Status"
import { isHeld, namesInForce } from "../model/OutboxRecord.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import {
  addParent,
  type Dependencies,
  type DependencyRule,
  emptySearches,
  listed,
} from "../policy/dependencies.ts"
import type { FindMatching } from "../policy/indexMatchers.ts"
import {
  EVALUATED_TOGETHER,
  type LoudFacts,
  loudFacts,
  piecesOf,
  readLoudMembers,
  MOST_MEMBERS,
} from "./loudMembers.ts"
import { comparesShared } from "./mutes.ts"

/** A parent's name among the holds of a firing. */
export type ParentName = `parent:${string}`

/** The beginning of the name of each parent; alone, it stands for all of them. */
export const PARENT = "parent:"

export const isParentName = (by: string): by is ParentName => by.startsWith(PARENT)

/** An open incident, or a stale agent as its heartbeat incident. */
interface PossibleParent {
  readonly name: ParentName
  readonly id: IncidentId | undefined
  readonly announced: Severity
  readonly isStale: boolean
  readonly loud: LoudFacts
}

/** The parents by rule and values, the worst first. */
type ParentIndex = ReadonlyMap<string, ReadonlyArray<Omit<PossibleParent, "loud">>>

/** An incident is not its own parent, so that the worst two decide. */
const KEPT = 2

/** The positions of the rules whose matchers hold for each loud member, in order. */
const rulesMatching = (
  findMatching: FindMatching,
  listOf: (position: number) => ReadonlyArray<Matcher> | undefined,
  loud: LoudFacts,
): ReadonlyArray<number> => {
  if (loud.kind === "too_many")
    return findMatching(loud.shared)
      .filter((position) => listOf(position)?.every(comparesShared))
      .toSorted((a, b) => a - b)
  let common: ReadonlyArray<number> | undefined
  for (const member of loud.members) {
    const found = findMatching(member)
    common = common === undefined ? found : common.filter((position) => found.includes(position))
    if (common.length === 0) return []
  }
  return (common ?? []).toSorted((a, b) => a - b)
}

interface PlacedRule {
  readonly rule: DependencyRule
  readonly position: number
}

/**
 * The rules that may hold an incident: those before the first whose parent it is, so that no two hold each
 * other (docs/rules.md#dependencies).
 */
const rulesOfChild = (
  { find: { child, parent }, rules }: Dependencies,
  loud: LoudFacts,
): ReadonlyArray<PlacedRule> => {
  if (loud.kind === "too_many") return []
  const children = rulesMatching(child, (position) => rules[position]?.child, loud)
  if (children.length === 0) return []
  const [first = rules.length] = rulesMatching(parent, (position) => rules[position]?.parent, loud)
  return children.flatMap((position) => {
    const rule = position < first ? rules[position] : undefined
    return rule === undefined ? [] : [{ rule, position }]
  })
}

const placeOf = (position: number, value: string): string => `${position} ${value}`

/** Indexes parents by rule and by the values that a child must have too. */
const indexParents = (
  { find: { parent }, rules }: Dependencies,
  parents: ReadonlyArray<PossibleParent>,
  holding: ReadonlySet<ParentName>,
): ParentIndex => {
  const index = new Map<string, Array<Omit<PossibleParent, "loud">>>()
  const worstFirst = parents.toSorted((a, b) => SEVERITY_RANK[b.announced] - SEVERITY_RANK[a.announced])
  for (const { loud, ...entry } of worstFirst) {
    for (const position of rulesMatching(parent, (at) => rules[at]?.parent, loud)) {
      const rule = rules[position]
      if (rule === undefined || (entry.isStale && !rule.takesStale)) continue
      for (const value of new Set(loud.members.flatMap((member) => rule.valueOf(member) ?? []))) {
        const entries = index.get(placeOf(position, value)) ?? []
        index.set(placeOf(position, value), entries)
        if (entries.length < KEPT || holding.has(entry.name)) entries.push(entry)
      }
    }
  }
  return index
}

export interface Parents {
  /** Those that hold it, one for each loud member. */
  readonly names: ReadonlyArray<ParentName>
  /** Whether it has parents, mild ones included. */
  readonly isPresent: boolean
  /** Those that hold its firings and have not ended, whether or not all its loud members have parents. */
  readonly lasting: ReadonlySet<ParentName>
  readonly isStale: boolean
  readonly grace: Duration.Duration
}

export const NO_PARENTS: Parents = {
  names: [],
  isPresent: false,
  lasting: new Set(),
  isStale: false,
  grace: Duration.zero,
}

interface Child {
  readonly incident: IncidentRecord
  readonly loud: LoudFacts
  readonly rules: ReadonlyArray<PlacedRule>
  /** The parents that held its firings at the last evaluation. */
  readonly holding: ReadonlySet<ParentName>
}

/** The parents that hold the firings of an incident, by their last decision. */
export const holdingParents = (unit: UnitOfWork, { id }: IncidentRecord): ReadonlySet<ParentName> =>
  new Set(
    unit.outbox.group(id).flatMap((item) => (isHeld(item) ? namesInForce(item).filter(isParentName) : [])),
  )

/** A parent that holds a child lasts while one of its loud members equals one of the child, by any rule. */
const lastingParents = (
  { rules }: Dependencies,
  index: ParentIndex,
  { holding, loud }: Child,
): ReadonlySet<ParentName> => {
  if (holding.size === 0 || loud.members.length === 0) return holding
  const lasting = new Set<ParentName>()
  for (const [position, rule] of rules.entries())
    for (const value of new Set(loud.members.flatMap((member) => rule.valueOf(member) ?? [])))
      for (const { name } of index.get(placeOf(position, value)) ?? [])
        if (holding.has(name)) lasting.add(name)
  return lasting
}

/** Finds the parents of an incident: by one rule, each loud member needs one with its values. */
const parentsOf = (dependencies: Dependencies, index: ParentIndex, child: Child): Parents => {
  const { incident, loud, rules } = child
  const { announced = incident.severity, id } = incident
  const names = new Set<ParentName>()
  let [isPresent, isStale, grace] = [false, false, Duration.zero]
  for (const { position, rule } of rules) {
    const values = new Set(loud.members.map(rule.valueOf))
    if (values.has(undefined)) continue
    grace = Duration.max(grace, rule.grace)
    const found = Array.from(values).flatMap(
      (value = "") => index.get(placeOf(position, value))?.find((entry) => entry.id !== id) ?? [],
    )
    if (found.length < values.size) continue
    isPresent = true
    if (found.some((entry) => isBelow(entry.announced, announced))) continue
    for (const entry of found) {
      names.add(entry.name)
      isStale ||= entry.isStale
    }
  }
  const lasting = lastingParents(dependencies, index, child)
  return { names: Array.from(names).toSorted(), isPresent, lasting, isStale, grace }
}

/** More open incidents, and more stale agents, are no parents. */
export const MOST_PARENTS = 10_000

/** Reads the parents of some incidents, given what matchers compare of each. Locks nothing. */
export function* readParents(
  unit: UnitOfWork,
  children: ReadonlyMap<IncidentId, Pick<Child, "incident" | "loud">>,
  dependencies: Policy["dependencies"],
  staleAfter: Duration.Duration,
  now: Instant.Instant,
): Decision<ReadonlyMap<IncidentId, Parents>> {
  const found = new Map<IncidentId, Parents>()
  if (dependencies === undefined) return found
  const search = emptySearches()
  const dependent = Array.from(children.values()).flatMap(({ incident, loud }) => {
    const rules = rulesOfChild(dependencies, loud)
    for (const { rule } of rules) for (const facts of loud.members) rule.addTo(search, facts)
    const holding = holdingParents(unit, incident)
    for (const name of holding) addParent(search, name.slice(PARENT.length))
    return rules.length === 0 && holding.size === 0 ? [] : [{ incident, loud, rules, holding }]
  })
  if (dependent.length === 0) return found
  const since = Instant.minus(now, staleAfter)
  const staleSince = search.takesStale ? since : undefined
  const { agents, incidents } = yield* find("parents", { ...listed(search), staleSince, limit: MOST_PARENTS })
  const stale = agents
    .flatMap((agent) =>
      unit.agents.isLoaded(agent.agent_id) ? (unit.agents.get(agent.agent_id) ?? []) : agent,
    )
    .filter((agent) => isSilent(agent, since))
    .map(asParent)
  const openNow = asChanged(incidents, unit.incidents.changes()).filter(({ state }) => state === "open")
  const possible = [...(yield* readPossible(unit, openNow)), ...stale]
  const holding = new Set(dependent.flatMap((child) => Array.from(child.holding)))
  const index = indexParents(dependencies, possible, holding)
  for (const child of dependent) found.set(child.incident.id, parentsOf(dependencies, index, child))
  return found
}

/** Those of these incidents that may be parents: they were announced, and a loud member is present. */
function* readPossible(
  unit: UnitOfWork,
  incidents: ReadonlyArray<IncidentRecord>,
): Decision<ReadonlyArray<PossibleParent>> {
  const possible: Array<PossibleParent> = []
  const known = incidents.filter(({ announced }) => announced !== undefined)
  for (const piece of piecesOf(known, EVALUATED_TOGETHER)) {
    const members = yield* readLoudMembers(unit, piece, { limit: MOST_MEMBERS })
    for (const incident of piece) {
      const { id, incident_key, severity, announced = severity } = incident
      const loud = loudFacts(incident, members.get(id) ?? [])
      possible.push({ name: `parent:${incident_key}`, id, announced, isStale: false, loud })
    }
  }
  return possible
}

/** A stale agent counts as its heartbeat incident, which it may soon have. */
const asParent = ({ agent_id, hostname, labels = {} }: AgentRecord): PossibleParent => {
  const incident_key = IncidentKey.make(`${agent_id}/${HEARTBEAT}`)
  const facts = { agent_id, hostname, labels, incident_key, severity: "critical" } as const
  return {
    name: `parent:${incident_key}`,
    id: undefined,
    announced: "critical",
    isStale: true,
    loud: { kind: "listed", members: [facts] },
  }
}

/** Whether an incident may be a parent of others than before. */
export const changesParents = ({ after, before }: Change<IncidentRecord>): boolean =>
  before?.member_changes !== after?.member_changes || before?.announced !== after?.announced
