import { Duration } from "effect"
import type { NotifierName, Severity } from "@tocsin/contract/formats/Status"
import type { MatchedFacts } from "@tocsin/contract/labels/Matcher"
import type { Route } from "@tocsin/contract/policy/PolicyDocument"
import { indexMatchers } from "./indexMatchers.ts"

/** How routes name a receiver (docs/rules.md#routes). */
export interface NamedReceiver {
  /** How long after the incident was announced a first step names it; absent where only later ones do. */
  readonly first?: Duration.Duration | undefined
  /** The same for one that stands beside another that is out of reach. */
  readonly beside?: Duration.Duration | undefined
  /** How long after the steps began later ones name it, the least first. */
  readonly later: ReadonlyArray<Duration.Duration>
  /** The rotas by which later ones name it, by their delays in milliseconds; absent where one names it itself. */
  readonly laterRotas?: ReadonlyMap<number, ReadonlyArray<NotifierName>>
  /** How long after its last attempt it is reminded. */
  readonly remind: Duration.Duration | undefined
  /** The rotas that led to it, if it was named so. */
  readonly rotas?: ReadonlyArray<NotifierName>
}

/** Receivers; and rotas, until who is on call is known. */
export type NamedReceivers = ReadonlyMap<NotifierName, NamedReceiver>

/** Whom the routes of an incident name. */
export interface Naming {
  /** By the loud present members. */
  readonly named: NamedReceivers
  /** The same if every member worse than this severity counted as it. */
  readonly at: (severity: Severity) => NamedReceivers
  /** Whether only the worst of too many members name receivers; then one that has a firing stays named. */
  readonly isCut: boolean
}

/** How many incidents of a key were opened within a span up to now, the present one included. */
export type CountOpenings = (within: Duration.Duration) => number

/** The position of a route, or what stands in for a member that no route matches. */
export type RouteId = number | "unmatched"

/** Compiles the routes of a policy. A member that none matches names every receiver, without a delay. */
export const compileRoutes = (routes: ReadonlyArray<Route>, receivers: ReadonlyArray<NotifierName>) => {
  const find = indexMatchers(routes.map(({ match = [] }) => match))
  const everyone: NamedReceivers = new Map(receivers.map((name) => [name, AT_ONCE]))
  // Most incidents match one route, which names the same receivers each time unless it counts openings.
  const byRoute = routes.map((route) => {
    const named = (countOpenings: CountOpenings) => unite([namedByRoute(route, receivers, countOpenings)])
    const always = named(() => 0)
    return route.flapping === undefined ? () => always : named
  })
  return {
    /** Adds the routes that match a member to those found before. */
    match: (facts: MatchedFacts, found: Set<RouteId>): void => {
      const positions = find(facts)
      for (const position of positions) found.add(position)
      if (positions.length === 0) found.add("unmatched")
    },
    /** All that match name their receivers; of delays and reminders, the least counts. */
    name: (found: ReadonlySet<RouteId>, countOpenings: CountOpenings): NamedReceivers => {
      const named = Array.from(found, (id) =>
        id === "unmatched" ? everyone : (byRoute[id]?.(countOpenings) ?? everyone),
      )
      const [one] = named
      return named.length === 1 && one !== undefined ? one : unite(named)
    },
  }
}

type NamedEntry = readonly [NotifierName, NamedReceiver]

const unite = (all: ReadonlyArray<Iterable<NamedEntry>>): NamedReceivers => {
  const named = new Map<NotifierName, NamedReceiver>()
  for (const some of all)
    for (const [name, receiver] of some) named.set(name, leastOf(named.get(name), receiver))
  return named
}

export const AT_ONCE: NamedReceiver = { first: Duration.zero, later: [], remind: undefined }

/** A route's `after` delays its first step; a later step never comes before the first. */
const namedByRoute = (
  { after = Duration.zero, flapping, remind, steps, to }: Route,
  receivers: ReadonlyArray<NotifierName>,
  countOpenings: CountOpenings,
): ReadonlyArray<NamedEntry> => {
  const isFlapping = flapping !== undefined && countOpenings(flapping.within) >= flapping.openings
  const first = isFlapping ? flapping.after : after
  return (steps ?? [{ to: to ?? receivers, after: undefined }]).flatMap((step, n) =>
    step.to.map((name) => {
      if (n === 0) return [name, { first, later: [], remind }] as const
      return [name, { later: [Duration.max(first, step.after ?? first)], remind }] as const
    }),
  )
}

const leastDelay = (one: Duration.Duration | undefined, other: Duration.Duration | undefined) =>
  one === undefined || other === undefined ? (one ?? other) : Duration.min(one, other)

/** Unites how two entries name a receiver. */
export const leastOf = (known: NamedReceiver | undefined, other: NamedReceiver): NamedReceiver => {
  if (known === undefined) return other
  const later = [...known.later, ...other.later].map(Duration.toMillis)
  const rotas = [...(known.rotas ?? []), ...(other.rotas ?? [])]
  return {
    first: leastDelay(known.first, other.first),
    beside: leastDelay(known.beside, other.beside),
    later: Array.from(new Set(later.toSorted((a, b) => a - b)), (delay) => Duration.millis(delay)),
    remind: leastDelay(known.remind, other.remind),
    ...(rotas.length > 0 && { rotas: Array.from(new Set(rotas)), laterRotas: rotasOfBoth(known, other) }),
  }
}

/** The rotas of later steps that neither of two entries has without one. */
const rotasOfBoth = (known: NamedReceiver, other: NamedReceiver) => {
  const rotas = new Map(known.laterRotas)
  for (const [delay, own] of other.laterRotas ?? [])
    rotas.set(delay, Array.from(new Set([...(rotas.get(delay) ?? []), ...own])))
  for (const { later, laterRotas } of [known, other])
    for (const delay of later.map(Duration.toMillis)) if (laterRotas?.has(delay) !== true) rotas.delete(delay)
  return rotas
}
