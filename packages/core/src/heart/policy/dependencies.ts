import { Duration } from "effect"
import { compileField, isPositive, type MatchedFacts, type Matcher } from "@tocsin/contract/labels/Matcher"
import type { Dependency } from "@tocsin/contract/policy/PolicyDocument"
import type { ParentSearch } from "../../kernel/unitOfWork/Search.ts"
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
  hostnames: new Set<string>(),
  /** By their texts. */
  labelled: new Map<string, ParentSearch["labelled"][number]>(),
  isAll: false,
  takesStale: false,
})
type ParentSearches = ReturnType<typeof emptySearches>

/** A search as storages run it. */
export const listed = ({ agents, checks, hostnames, isAll, keys, labelled }: ParentSearches) => ({
  agents: Array.from(agents),
  checks: Array.from(checks),
  keys: Array.from(keys),
  hostnames: Array.from(hostnames),
  labelled: Array.from(labelled.values()),
  isAll,
})

export const compileDependencies = (dependencies: ReadonlyArray<Dependency>) => {
  const rules = dependencies.map(compileRule)
  return {
    rules,
    /** Finds the positions of the rules of whose parents, or children, some facts are. */
    find: {
      parent: indexMatchers(rules.map(({ parent }) => parent)),
      child: indexMatchers(rules.map(({ child }) => child)),
    },
    takesStale: rules.some(({ takesStale }) => takesStale),
  }
}

const HEARTBEAT_KEY = `/${HEARTBEAT}`

/** Adds the incident of a key, or the stale agent that stands for it. */
export const addParent = ({ agents, keys }: ParentSearches, key: string): void => {
  keys.add(key)
  if (key.endsWith(HEARTBEAT_KEY)) agents.add(key.slice(0, -HEARTBEAT_KEY.length))
}

/** No text of a field contains it. */
const SEPARATOR = "\u0000"

const compileRule = ({ child, equal = [], grace = Duration.zero, parent }: Dependency) => {
  const shared = equal.map((field) => ({ field, read: compileField(field) }))
  const takesStale = parent.some(
    (matcher) =>
      matcher.field === "incident_key" && isPositive(matcher) && matcher.value.endsWith(HEARTBEAT_KEY),
  )
  const addTo = addingOf(parent, takesStale)
  return {
    parent,
    child,
    grace,
    /** Whether an agent that is stale counts as a critical parent. */
    takesStale,
    /** Joins the values that parent and child share. Absent if one is empty, which equals nothing. */
    valueOf: (facts: Partial<MatchedFacts>) => {
      const values = shared.map(({ read }) => read(facts))
      return values.includes("") ? undefined : values.join(SEPARATOR)
    },
    /** Adds to a search the rows that parents of some facts are among. */
    addTo: (search: ParentSearches, facts: Partial<MatchedFacts>): void => {
      const values = shared.map(({ field, read }) => ({ field, value: read(facts) }))
      if (values.every(({ value }) => value !== "")) addTo(search, values)
    },
  }
}

const LABEL = "label:"

type Values = ReadonlyArray<Pick<Matcher, "field" | "value">>

/** Adds the rows of parents with these values, by the first of these that applies. All open incidents may be some. */
const addingOf = (parent: ReadonlyArray<Matcher>, takesStale: boolean) => {
  // An empty value stands for what is absent, which no index has.
  const required = parent.filter(({ op, value }) => op === "=" && value !== "")
  return (search: ParentSearches, shared: Values): void => {
    const sharedIn = (field: string) => shared.find((one) => one.field === field)?.value
    const find = (field: string) => required.find((one) => one.field === field)?.value ?? sharedIn(field)
    const [key, agent, hostname] = [
      find("incident_key"),
      sharedIn("agent_id") ?? find("agent_id"),
      find("hostname"),
    ]
    const check_id = takesStale ? HEARTBEAT : find("check_id")
    const labels = [...required, ...shared].filter(({ field }) => field.startsWith(LABEL))
    search.takesStale ||= takesStale && sharedIn("agent_id") === undefined
    if (agent !== undefined) search.agents.add(agent)
    else if (key !== undefined) search.keys.add(key)
    else if (hostname !== undefined) search.hostnames.add(hostname)
    else if (labels.length > 0) addLabelled(search, labels, check_id)
    else if (check_id !== undefined) search.checks.add(check_id)
    else search.isAll = true
  }
}

const addLabelled = ({ labelled }: ParentSearches, values: Values, check_id: string | undefined): void => {
  const labels = Object.fromEntries(values.map(({ field, value }) => [field.slice(LABEL.length), value]))
  const one = { labels, check_id }
  labelled.set(JSON.stringify(one), one)
}
