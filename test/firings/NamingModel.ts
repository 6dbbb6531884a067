import { everyoneOf } from "./RotaModel.ts"
import { firstAt, wallAt } from "./WallClock.ts"
import { AGENTS, type Dependency, type Policy, rankOf, severityOf } from "./Story.ts"

/** The part of docs/rules.md that a policy decides at a moment. Severities are ranks; 0 is none. */

/** The worst so many members name receivers, and an incident of more has no parents. */
export const MOST_MEMBERS = 500

/** The fields that matchers compare. */
export type Facts = Readonly<Record<string, string>>

const LABELS: Readonly<Record<string, Facts>> = Object.fromEntries(
  Object.entries(AGENTS).map(([agent, labels]) => [
    agent,
    Object.fromEntries(Object.entries(labels).map(([name, value]) => [`label:${name}`, value])),
  ]),
)

/** The facts of a check, or of an agent. */
export const factsOf = (incident_key: string, rank: number, agent_id: string, check_id = ""): Facts => ({
  agent_id,
  check_id,
  incident_key,
  severity: severityOf(rank),
  ...LABELS[agent_id],
})

/** Whether matchers hold for each of some members; there is at least one. */
export const covers = (matchers: ReadonlyArray<string>, members: ReadonlyArray<Facts>): boolean =>
  members.length > 0 && members.every((facts) => matchers.every((matcher) => testOf(matcher)(facts)))

type Test = (facts: Facts) => boolean

const readTest = (matcher: string): Test => {
  const [field = "", op = "", wanted = ""] = matcher.split(" ")
  if (op !== "glob") return (facts) => (op === "=") === ((facts[field] ?? "") === wanted)
  const pattern = new RegExp(`^${wanted.replaceAll("*", ".*")}$`, "u")
  return (facts) => pattern.test(facts[field] ?? "")
}

/** The tests of matchers, by their texts: stories compare hundreds of members with the same few. */
const tests = new Map<string, Test>()
const testOf = (matcher: string): Test => {
  const known = tests.get(matcher) ?? readTest(matcher)
  tests.set(matcher, known)
  return known
}

/** The receivers and rotas that a loud member names, by each step of all routes that match it. */
export const namesOf = (
  policy: Policy,
  receivers: ReadonlyArray<string>,
  member: Facts,
  openingsWithin: (seconds: number) => number,
) => {
  const { routes = [] } = policy
  const matching = routes.filter(({ match = [] }) => covers(match, [member]))
  // One that no route matches names every receiver, with delay 0.
  return (matching.length === 0 ? [{}] : matching).flatMap((route: (typeof routes)[number]) => {
    const { after = 0, flapping, remind = Infinity, steps, to = everyoneOf(policy, receivers) } = route
    const flaps = flapping !== undefined && openingsWithin(flapping.within) >= flapping.openings
    // `flapping` replaces the first step's delay, and a later step's is never less than that.
    const first = flaps ? flapping.after : after
    return (steps ?? [{ to }]).flatMap((step, at) => {
      const delay = at === 0 ? first : Math.max(first, step.after ?? 0)
      return step.to.map((name) => ({ name, delay, isFirst: at === 0, remind }))
    })
  })
}

/** The windows in which a moment is; they begin at minutes of the hour, in one that comes twice for the first time. */
export const windowsAt = ({ windows = [] }: Policy, at: number) => {
  const wall = wallAt(BERLIN, at)
  return windows.filter((one) => at < firstAt(BERLIN, wall - (wall % one.every)) + one.for)
}
const BERLIN = "Europe/Berlin"

/** Below what a receiver is quiet at a moment. */
export const quietBelow = ({ quiet }: Policy, receiver: string, at: number): number => {
  const { below, from = 0, to = 0 } = quiet?.[receiver] ?? {}
  const time = at % 86_400
  return (from < to ? from <= time && time < to : from <= time || time < to) ? rankOf(below) : 0
}

/** The dependencies that may hold an incident: those before the first one whose parent it is. */
export const dependenciesOf = ({ dependencies = [] }: Policy, own: ReadonlyArray<Facts>) => {
  const first = dependencies.findIndex(({ parent }) => covers(parent, own))
  const before = dependencies.slice(0, first < 0 ? undefined : first)
  // An absent or empty value equals nothing.
  const hasValues = ({ equal }: Dependency) => own.every((facts) => equal.every((field) => facts[field]))
  return before.filter((rule) => covers(rule.child, own) && hasValues(rule))
}

/** A possible parent: an open incident, or an agent that is stale. Stories name agents by their keys alone. */
interface Other {
  readonly announced: number
  readonly facts: ReadonlyArray<Facts>
}

/** The parents of a rule with values equal to a member's. */
const parentsFor = ({ equal, parent }: Dependency, own: Facts, others: ReadonlyArray<Other>) =>
  others.filter(({ facts }) => {
    const isEqual = (other: Facts) => equal.every((field) => other[field] === own[field] && own[field])
    return covers(parent, facts) && facts.some(isEqual)
  })

const worstOf = (parents: ReadonlyArray<Other>): number =>
  Math.max(0, ...parents.map(({ announced }) => announced))

/** The severity up to which parents of a rule hold an incident: each loud member has one of equal values. */
export const parentsOf = (
  rule: Dependency,
  own: ReadonlyArray<Facts>,
  others: ReadonlyArray<Other>,
): number => Math.min(...own.map((facts) => worstOf(parentsFor(rule, facts, others))))

/** The keys of these parents, the worst for each member. */
export const parentKeys = (
  rule: Dependency,
  own: ReadonlyArray<Facts>,
  others: ReadonlyArray<Other>,
): ReadonlyArray<ReadonlyArray<string>> =>
  parentsOf(rule, own, others) === 0
    ? []
    : own.map((facts) => {
        const parents = parentsFor(rule, facts, others)
        return parents.filter(({ announced }) => announced === worstOf(parents)).map(keyOf)
      })

const keyOf = ({ facts }: Other): string => facts[0]?.["incident_key"] ?? ""

/** Whether the incident of a key is still a parent of one of these members, if there are any. */
export const isParent = (
  rules: ReadonlyArray<Dependency>,
  key: string,
  own: ReadonlyArray<Facts>,
  others: ReadonlyArray<Other>,
): boolean =>
  own.length === 0 ||
  rules.some((rule) => own.some((facts) => parentsFor(rule, facts, others).some((one) => keyOf(one) === key)))
