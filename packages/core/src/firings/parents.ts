import { Duration } from "effect"
import type { IncidentId } from "@tocsin/contract/Identifiers"
import type { Matcher } from "@tocsin/contract/Matcher"
import type { Severity } from "@tocsin/contract/Status"
import { SEVERITIES } from "../model/Announced.ts"
import type { Dependencies, DependencyRule } from "../policy/dependencies.ts"
import type { FindMatching } from "../policy/indexMatchers.ts"
import { isBelow } from "./Hold.ts"
import { comparesShared, type LoudMembers } from "./mutes.ts"

export type ParentName = `parent:${string}`

/** An open incident, or a stale agent as its heartbeat incident. */
export interface PossibleParent {
  readonly name: ParentName
  readonly id: IncidentId | undefined
  readonly announced: Severity
  readonly isStale: boolean
  readonly loud: LoudMembers
}

type Entry = Omit<PossibleParent, "loud">

/** The parents by rule and values. An incident is not its own: of each severity, the first two decide. */
export type ParentIndex = ReadonlyMap<string, ReadonlyMap<Severity, ReadonlyArray<Entry>>>

const KEPT = 2

/** The positions of the rules whose matchers hold for each loud member, in order. */
const covering = (
  find: FindMatching,
  listOf: (position: number) => ReadonlyArray<Matcher> | undefined,
  loud: LoudMembers,
): ReadonlyArray<number> => {
  if (loud.kind === "too_many")
    return find(loud.shared)
      .filter((position) => listOf(position)?.every(comparesShared))
      .toSorted((a, b) => a - b)
  let common: ReadonlyArray<number> | undefined
  for (const member of loud.members) {
    const found = find(member)
    common = common === undefined ? found : common.filter((position) => found.includes(position))
    if (common.length === 0) return []
  }
  return (common ?? []).toSorted((a, b) => a - b)
}

/** A rule, and its position in the policy. */
interface PlacedRule {
  readonly rule: DependencyRule
  readonly position: number
}

/**
 * The rules that may hold an incident: those before the first whose parent it is, so that no two hold each
 * other (docs/rules.md#dependencies).
 */
export const rulesOfChild = ({ find, rules }: Dependencies, loud: LoudMembers): ReadonlyArray<PlacedRule> => {
  if (loud.kind === "too_many") return []
  const children = covering(find.child, (position) => rules[position]?.child, loud)
  if (children.length === 0) return []
  const [first = rules.length] = covering(find.parent, (position) => rules[position]?.parent, loud)
  return children.flatMap((position) => {
    const rule = position < first ? rules[position] : undefined
    return rule === undefined ? [] : [{ rule, position }]
  })
}

const placeOf = (position: number, value: string): string => `${position} ${value}`

/** Indexes parents by rule and by the values that a child must have too. */
export const indexParents = (
  { find, rules }: Dependencies,
  parents: ReadonlyArray<PossibleParent>,
): ParentIndex => {
  const index = new Map<string, Map<Severity, Array<Entry>>>()
  for (const { loud, ...entry } of parents) {
    for (const position of covering(find.parent, (at) => rules[at]?.parent, loud)) {
      const rule = rules[position]
      if (rule === undefined || (entry.isStale && !rule.takesStale)) continue
      const values = new Set(loud.members.flatMap((member) => rule.valueOf(member) ?? []))
      for (const value of values) add(index, placeOf(position, value), entry)
    }
  }
  return index
}

const add = (index: Map<string, Map<Severity, Array<Entry>>>, place: string, entry: Entry): void => {
  const bySeverity = index.get(place) ?? new Map<Severity, Array<Entry>>()
  index.set(place, bySeverity)
  const entries = bySeverity.get(entry.announced) ?? []
  bySeverity.set(entry.announced, entries)
  if (entries.length < KEPT) entries.push(entry)
}

/** The parents of an incident. */
export interface Parents {
  /** Those that hold it, one for each loud member. */
  readonly names: ReadonlyArray<ParentName>
  /** Whether it has parents, mild ones included. */
  readonly isPresent: boolean
  /** Whether one of them is a stale agent. */
  readonly isStale: boolean
  /** How long a firing waits for one. */
  readonly grace: Duration.Duration
}

export const NO_PARENTS: Parents = { names: [], isPresent: false, isStale: false, grace: Duration.zero }

/** An incident that parents may hold. */
interface Child {
  readonly id: IncidentId
  readonly announced: Severity
  readonly loud: LoudMembers
  /** Those that may hold it. */
  readonly rules: ReadonlyArray<PlacedRule>
}

/** Finds the parents of an incident: by one rule, each loud member needs one with its values. */
export const parentsOf = (index: ParentIndex, child: Child): Parents => {
  const names = new Set<ParentName>()
  let [isPresent, isStale, grace] = [false, false, Duration.zero]
  for (const { position, rule } of child.rules) {
    const values = new Set(child.loud.members.map(rule.valueOf))
    if (values.has(undefined)) continue
    grace = Duration.max(grace, rule.grace)
    const found = Array.from(values).flatMap(
      (value = "") => worstOf(index.get(placeOf(position, value)), child.id) ?? [],
    )
    if (found.length < values.size) continue
    isPresent = true
    if (found.some(({ announced }) => isBelow(announced, child.announced))) continue
    for (const entry of found) {
      names.add(entry.name)
      isStale ||= entry.isStale
    }
  }
  return { names: Array.from(names).toSorted(), isPresent, isStale, grace }
}

const worstOf = (
  bySeverity: ReadonlyMap<Severity, ReadonlyArray<Entry>> | undefined,
  child: IncidentId,
): Entry | undefined => {
  for (const severity of SEVERITIES.toReversed()) {
    const other = bySeverity?.get(severity)?.find(({ id }) => id !== child)
    if (other !== undefined) return other
  }
  return undefined
}
