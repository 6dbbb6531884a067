import { Duration } from "effect"
import type { NotifierName, Severity } from "@tocsin/contract/Status"
import type { MatchedFacts } from "@tocsin/contract/Matcher"
import type { Route } from "@tocsin/contract/PolicyDocument"
import { indexMatchers } from "./indexMatchers.ts"

/** How routes name a receiver (docs/rules.md#routes). */
export interface NamedReceiver {
  /** How long after the incident was announced it is notified. */
  readonly delay: Duration.Duration
  /** Whether a later step gives that delay. */
  readonly isLater: boolean
  /** Whether a first step names it, if only after a longer delay. */
  readonly isFirst: boolean
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

export const AT_ONCE: NamedReceiver = {
  delay: Duration.zero,
  isLater: false,
  isFirst: true,
  remind: undefined,
}

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
      const delay = step.after === undefined ? first : Duration.max(first, step.after)
      return [name, { delay, isLater: n > 0, isFirst: n === 0, remind }] as const
    }),
  )
}

export const leastOf = (known: NamedReceiver | undefined, other: NamedReceiver): NamedReceiver => {
  if (known === undefined) return other
  const isLess = Duration.isLessThan(other.delay, known.delay)
  const isEqual = Duration.equals(other.delay, known.delay)
  return {
    delay: isLess ? other.delay : known.delay,
    isLater: isEqual ? known.isLater && other.isLater : (isLess ? other : known).isLater,
    isFirst: known.isFirst || other.isFirst,
    remind:
      known.remind === undefined || other.remind === undefined
        ? (known.remind ?? other.remind)
        : Duration.min(known.remind, other.remind),
    ...((known.rotas ?? other.rotas) && { rotas: unitedRotas(known, other) }),
  }
}

const unitedRotas = (known: NamedReceiver, other: NamedReceiver): ReadonlyArray<NotifierName> =>
  Array.from(new Set([...(known.rotas ?? []), ...(other.rotas ?? [])]))
