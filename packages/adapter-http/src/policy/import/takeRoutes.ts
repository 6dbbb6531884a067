import { formatMatcher, MAX_MATCHERS } from "@tocsin/contract/Matcher"
import { boundedMillis, durationText } from "@tocsin/contract/durationMillis"
import { type Alternatives, ALWAYS, and, conditionsOf, not } from "./conditions.ts"
import type { AlertmanagerRoute } from "./AlertRouterConfig.ts"

/** A route of the policy, as its file has it. */
export interface TakenRoute {
  readonly match?: ReadonlyArray<string>
  readonly to: readonly [string]
  readonly remind?: string
}

/** A route that mutes during time intervals. */
export interface MutedRoute {
  readonly intervals: ReadonlyArray<string>
  readonly condition: Alternatives
}

/** Routes, mute times and a list of the parts that were not taken over. */
export interface TakenRoutes {
  readonly routes: ReadonlyArray<TakenRoute>
  readonly muted: ReadonlyArray<MutedRoute>
  readonly notes: ReadonlyArray<string>
}

const QUARTER = 900_000
const MONTH = 31 * 86_400_000

/** How often to remind: durations of Alertmanager may have several units. */
const remindOf = (repeat: string): string | undefined => {
  const parts = repeat.match(/(?<!\d)\d+(?:ms|[smhdw])/gu) ?? []
  const millis = parts.reduce((sum, part) => {
    const week = /^(\d+)w$/u.exec(part)?.[1]
    return sum + (boundedMillis(week === undefined ? part : `${Number(week) * 7}d`) ?? 0)
  }, 0)
  return millis >= QUARTER && millis <= MONTH ? durationText(millis) : undefined
}

/** Texts of a policy for a condition; absent where it always holds. */
export const matchOf = (all: Alternatives[number]): ReadonlyArray<string> | undefined =>
  all.length === 0 ? undefined : all.map(formatMatcher)

/** The name of a receiver as a policy has it. */
export const receiverName = (name: string): string => {
  const plain = name.toLowerCase().replace(/[^a-z0-9_]/gu, "_")
  return (/^[a-z]/u.test(plain) ? plain : `r_${plain}`).slice(0, 64)
}

/**
 * Takes a tree of routes over. In Alertmanager an alert goes to the first child that matches, and to
 * its siblings only where it continues; in a policy, every route that matches names its receivers. So
 * each route excludes those before it.
 */
export const takeRoutes = (root: AlertmanagerRoute): TakenRoutes => {
  const routes: Array<TakenRoute> = []
  const muted: Array<MutedRoute> = []
  const notes: Array<string> = []

  const without = (
    condition: Alternatives,
    excluded: Alternatives | undefined,
    what: string,
  ): Alternatives => {
    const rest = and(condition, not(excluded))
    if (rest === undefined)
      notes.push(`${what} also gets alerts of a route before it: matchers cannot exclude them`)
    return rest ?? condition
  }

  const emit = (condition: Alternatives, { receiver, repeat_interval, place }: Inherited): void => {
    const remind = repeat_interval === undefined ? undefined : remindOf(repeat_interval)
    if (repeat_interval !== undefined && remind === undefined)
      notes.push(`${place}: repeat_interval ${repeat_interval} is not between 15m and 31d`)
    for (const all of condition) {
      if (all.length > MAX_MATCHERS) {
        notes.push(`${place}: it needs more than ${MAX_MATCHERS} matchers`)
        continue
      }
      const match = matchOf(all)
      routes.push({ ...(match && { match }), to: [receiverName(receiver)], ...(remind && { remind }) })
    }
  }

  const walk = (route: AlertmanagerRoute, available: Alternatives, above: Inherited): void => {
    const { place } = above
    const own: Inherited = {
      receiver: route.receiver ?? above.receiver,
      repeat_interval: route.repeat_interval ?? above.repeat_interval,
      place,
    }
    for (const name of ["group_wait", "group_interval"] as const)
      if (route[name] !== undefined) notes.push(`${place}: ${name}; receivers of a policy may have a digest`)
    if (route.group_by !== undefined && route.group_by.length > 0)
      notes.push(`${place}: group_by; give it to the integration as an option`)
    if (route.active_time_intervals !== undefined)
      notes.push(`${place}: active_time_intervals; write windows for the other times`)
    let left = available
    let unmatched = available
    for (const [index, child] of (route.routes ?? []).entries()) {
      const childPlace = `${place}.routes[${index}]`
      const condition = conditionsOf(child.match ?? {}, child.match_re ?? {}, textsOf(child.matchers))
      const reached = condition && and(left, condition)
      if (reached === undefined) {
        notes.push(`${childPlace}: its matchers; a policy has =, != and globs`)
        continue
      }
      if (reached.length > 0) walk(child, reached, { ...own, place: childPlace })
      unmatched = without(unmatched, condition, place)
      if (child.continue !== true) left = without(left, condition, `what follows ${childPlace}`)
    }
    emit(unmatched, own)
    if (route.mute_time_intervals !== undefined)
      muted.push({ intervals: route.mute_time_intervals, condition: unmatched })
  }

  walk(root, ALWAYS, { receiver: root.receiver ?? "default", repeat_interval: undefined, place: "route" })
  return { routes, muted, notes: Array.from(new Set(notes)) }
}

interface Inherited {
  readonly receiver: string
  readonly repeat_interval: string | undefined
  /** Its place in the file. */
  readonly place: string
}

const textsOf = (matchers: AlertmanagerRoute["matchers"]): ReadonlyArray<string> =>
  matchers === undefined ? [] : typeof matchers === "string" ? [matchers] : matchers
