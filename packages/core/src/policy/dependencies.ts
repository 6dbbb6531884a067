import { Duration } from "effect"
import { compileField, isPositive, type MatchedFacts, type Matcher } from "@tocsin/contract/Matcher"
import type { Dependency } from "@tocsin/contract/PolicyDocument"
import { HEARTBEAT } from "../model/MemberRecord.ts"
import { indexMatchers } from "./indexMatchers.ts"

/** One dependency, ready to compare incidents. */
export type DependencyRule = ReturnType<typeof compileRule>

/** The dependencies of a policy, in its order. */
export type Dependencies = ReturnType<typeof compileDependencies>

/** A search under construction. */
export const emptySearches = () => ({
  agents: new Set<string>(),
  checks: new Set<string>(),
  keys: new Set<string>(),
  isAll: false,
  takesStale: false,
})
type ParentSearches = ReturnType<typeof emptySearches>

/** A search as storages run it. */
export const listed = ({ agents, checks, isAll, keys }: ParentSearches) => ({
  agents: Array.from(agents),
  checks: Array.from(checks),
  keys: Array.from(keys),
  isAll,
})

export const compileDependencies = (dependencies: ReadonlyArray<Dependency>) => {
  const rules = dependencies.map(compileRule)
  const everything = emptySearches()
  for (const { addTo } of rules) addTo(everything)
  return {
    rules,
    /** Finds the positions of the rules of whose parents, or children, some facts are. */
    find: {
      parent: indexMatchers(rules.map(({ parent }) => parent)),
      child: indexMatchers(rules.map(({ child }) => child)),
    },
    takesStale: rules.some(({ takesStale }) => takesStale),
    /** Finds every incident that may be a parent. */
    search: listed(everything),
  }
}

const HEARTBEAT_KEY = `/${HEARTBEAT}`

/** No text of a field contains it. */
const SEPARATOR = "\u0000"

const compileRule = ({ child, equal = [], grace = Duration.zero, parent }: Dependency) => {
  const fields = equal.map(compileField)
  const takesStale = parent.some(
    (matcher) =>
      matcher.field === "incident_key" && isPositive(matcher) && matcher.value.endsWith(HEARTBEAT_KEY),
  )
  return {
    parent,
    child,
    grace,
    /** Whether an agent that is stale counts as a critical parent. */
    takesStale,
    /** Joins the values that parent and child share. Absent if one is empty, which equals nothing. */
    valueOf: (facts: Partial<MatchedFacts>) => {
      const values = fields.map((read) => read(facts))
      return values.includes("") ? undefined : values.join(SEPARATOR)
    },
    addTo: addingOf(parent, equal, takesStale),
  }
}

/**
 * Adds to a search the rows that parents of some facts are among, or without facts those of any: by the first of
 * these that applies. All open incidents may be some.
 */
const addingOf = (parent: ReadonlyArray<Matcher>, equal: ReadonlyArray<string>, takesStale: boolean) => {
  const required = (field: string) => parent.find((matcher) => matcher.op === "=" && matcher.field === field)
  const [key, agent, check] = [required("incident_key"), required("agent_id"), required("check_id")]
  const hasAgent = equal.includes("agent_id")
  return (search: ParentSearches, facts?: Partial<MatchedFacts>): void => {
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
