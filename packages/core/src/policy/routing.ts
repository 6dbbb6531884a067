import { Duration } from "effect"
import type { NotifierName } from "@tocsin/contract/Status"
import { compileMatchers, type MatchedFacts } from "@tocsin/contract/Matcher"
import type { Route } from "@tocsin/contract/PolicyDocument"

/** Whom an incident's notifications go to, and when. */
export interface Routing {
  /** Each receiver with its turn: how long after the opening. Zero: as soon as there is something. */
  readonly delays: ReadonlyMap<NotifierName, Duration.Duration>
  /** How long an incident must be open before anyone is notified; longer for a key that flaps. */
  readonly after: (countOpenings: CountOpenings) => Duration.Duration
  /** How long after the last attempt a receiver is reminded. */
  readonly remind: Duration.Duration | undefined
}

/** How many incidents of a key were opened within a span up to now, the present one included. */
export type CountOpenings = (within: Duration.Duration) => number

/**
 * Compiles routes: every matching one applies, their receivers are united, and of `after`, `remind`
 * and the turns of a receiver the least counts. Where none matches, every receiver is notified
 * immediately.
 */
export const compileRoutes = (
  routes: ReadonlyArray<Route>,
  receivers: ReadonlyArray<NotifierName>,
): ((facts: MatchedFacts) => Routing) => {
  const everyone: Routing = {
    delays: immediately(receivers),
    after: () => Duration.zero,
    remind: undefined,
  }
  const compiled = routes.map((route) => ({
    matches: compileMatchers(route.match ?? []),
    after: afterOf(route),
    remind: route.remind,
    delays: delaysOf(route, receivers),
  }))
  return (facts) => {
    const matching = compiled.filter(({ matches }) => matches(facts))
    if (matching.length === 0) return everyone
    return {
      delays: matching.map(({ delays }) => delays).reduce(unite),
      after: (countOpenings) => matching.map(({ after }) => after(countOpenings)).reduce(Duration.min),
      remind: matching.map(({ remind }) => remind).reduce(least),
    }
  }
}

const immediately = (names: ReadonlyArray<NotifierName>): ReadonlyMap<NotifierName, Duration.Duration> =>
  new Map(names.map((name) => [name, Duration.zero]))

const afterOf =
  ({ after = Duration.zero, flapping }: Route) =>
  (countOpenings: CountOpenings): Duration.Duration =>
    flapping !== undefined && countOpenings(flapping.within) >= flapping.openings ? flapping.after : after

const delaysOf = (
  { steps, to }: Route,
  receivers: ReadonlyArray<NotifierName>,
): ReadonlyMap<NotifierName, Duration.Duration> =>
  steps === undefined
    ? immediately(to ?? receivers)
    : steps
        .map(({ after = Duration.zero, to: names }) => new Map(names.map((name) => [name, after])))
        .reduce<ReadonlyMap<NotifierName, Duration.Duration>>(unite, new Map())

const unite = (
  a: ReadonlyMap<NotifierName, Duration.Duration>,
  b: ReadonlyMap<NotifierName, Duration.Duration>,
): ReadonlyMap<NotifierName, Duration.Duration> => {
  const united = new Map(a)
  for (const [name, turn] of b) united.set(name, Duration.min(turn, united.get(name) ?? turn))
  return united
}

const least = (
  a: Duration.Duration | undefined,
  b: Duration.Duration | undefined,
): Duration.Duration | undefined => (a === undefined || b === undefined ? (a ?? b) : Duration.min(a, b))
