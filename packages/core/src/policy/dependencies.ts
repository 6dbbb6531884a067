import { Duration } from "effect"
import { compileField, isPositive, type MatchedFacts, type Matcher } from "@tocsin/contract/Matcher"
import type { Dependency } from "@tocsin/contract/PolicyDocument"
import type { ParentSearch } from "../engine/unitOfWork/RowRequest.ts"
import { HEARTBEAT } from "../model/MemberRecord.ts"
import { type FindMatching, indexMatchers } from "./indexMatchers.ts"

/** One dependency, ready to compare incidents. */
export interface DependencyRule extends Pick<Dependency, "child" | "parent"> {
  readonly grace: Duration.Duration
  /** Whether an agent that is stale counts as a critical parent. */
  readonly takesStale: boolean
  /** Joins the values that parent and child share. Absent if one is empty, which equals nothing. */
  readonly valueOf: (facts: Partial<MatchedFacts>) => string | undefined
  /** Adds to a search the rows that parents of these facts are among; without facts, those of any. */
  readonly addTo: (search: ParentSearches, facts?: Partial<MatchedFacts>) => void
}

/** A search under construction. */
interface ParentSearches {
  readonly agents: Set<string>
  readonly checks: Set<string>
  readonly keys: Set<string>
  isAll: boolean
  takesStale: boolean
}

/** The dependencies of a policy, in its order. */
export interface Dependencies {
  readonly rules: ReadonlyArray<DependencyRule>
  /** Finds the positions of the rules of whose parents, or children, some facts are. */
  readonly find: { readonly parent: FindMatching; readonly child: FindMatching }
  /** Whether stale agents may be parents. */
  readonly takesStale: boolean
  /** Finds every incident that may be a parent. */
  readonly search: Omit<ParentSearch, "limit" | "staleSince">
}

export const emptySearches = (): ParentSearches => ({
  agents: new Set(),
  checks: new Set(),
  keys: new Set(),
  isAll: false,
  takesStale: false,
})

/** A search as storages run it. */
export const listed = ({ agents, checks, isAll, keys }: ParentSearches): Dependencies["search"] => ({
  agents: Array.from(agents),
  checks: Array.from(checks),
  keys: Array.from(keys),
  isAll,
})

/** Compiles the dependencies of a policy. */
export const compileDependencies = (dependencies: ReadonlyArray<Dependency>): Dependencies => {
  const rules = dependencies.map(compileRule)
  const everything = emptySearches()
  for (const { addTo } of rules) addTo(everything)
  return {
    rules,
    find: {
      parent: indexMatchers(rules.map(({ parent }) => parent)),
      child: indexMatchers(rules.map(({ child }) => child)),
    },
    takesStale: rules.some(({ takesStale }) => takesStale),
    search: listed(everything),
  }
}

const HEARTBEAT_KEY = `/${HEARTBEAT}`

/** No text of a field contains it. */
const SEPARATOR = "\u0000"

const compileRule = ({ child, equal = [], grace = Duration.zero, parent }: Dependency): DependencyRule => {
  const fields = equal.map(compileField)
  const takesStale = parent.some(
    (matcher) =>
      matcher.field === "incident_key" && isPositive(matcher) && matcher.value.endsWith(HEARTBEAT_KEY),
  )
  return {
    parent,
    child,
    grace,
    takesStale,
    valueOf: (facts) => {
      const values = fields.map((read) => read(facts))
      return values.includes("") ? undefined : values.join(SEPARATOR)
    },
    addTo: addingOf(parent, equal, takesStale),
  }
}

/** Where the parents of a rule are found, by the first of these that applies; all open incidents may be some. */
const addingOf = (
  parent: ReadonlyArray<Matcher>,
  equal: ReadonlyArray<string>,
  takesStale: boolean,
): DependencyRule["addTo"] => {
  const required = (field: string) => parent.find((matcher) => matcher.op === "=" && matcher.field === field)
  const [key, agent, check] = [required("incident_key"), required("agent_id"), required("check_id")]
  const hasAgent = equal.includes("agent_id")
  return (search, facts) => {
    const { agent_id, check_id, incident_key } = facts ?? {}
    search.takesStale ||= takesStale && !(hasAgent && agent_id !== undefined)
    if (hasAgent && agent_id !== undefined) search.agents.add(agent_id)
    else if (key !== undefined) search.keys.add(key.value)
    else if (agent !== undefined) search.agents.add(agent.value)
    else if (takesStale) search.checks.add(HEARTBEAT)
    else if (check !== undefined) search.checks.add(check.value)
    else if (equal.includes("check_id") && check_id !== undefined) search.checks.add(check_id)
    else if (equal.includes("incident_key") && incident_key !== undefined) search.keys.add(incident_key)
    else search.isAll = true
  }
}
