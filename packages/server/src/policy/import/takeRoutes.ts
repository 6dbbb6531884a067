import { isPositive, MAX_MATCHERS } from "@tocsin/contract/labels/Matcher"
import { boundedMillis, durationText } from "@tocsin/contract/formats/durationMillis"
import { Schema } from "effect"
import {
  type Alternatives,
  ALWAYS,
  and,
  conditionsOf,
  matchOf,
  not,
  optionalLabels,
  optionalMatchers,
  optionalText,
  optionalTexts,
} from "./conditions.ts"

const fields = {
  receiver: optionalText,
  match: optionalLabels,
  match_re: optionalLabels,
  matchers: optionalMatchers,
  continue: Schema.optionalKey(Schema.Boolean),
  group_by: optionalTexts,
  group_wait: optionalText,
  group_interval: optionalText,
  repeat_interval: optionalText,
  mute_time_intervals: optionalTexts,
  active_time_intervals: optionalTexts,
}

/** A route of Alertmanager, as far as it is taken over or named. */
interface AlertmanagerRoute extends Schema.Struct.Type<typeof fields> {
  readonly routes?: ReadonlyArray<AlertmanagerRoute>
}

export const Route: Schema.Codec<AlertmanagerRoute> = Schema.Struct({
  ...fields,
  routes: Schema.optionalKey(Schema.Array(Schema.suspend((): Schema.Codec<AlertmanagerRoute> => Route))),
})

/** The receivers that a route and those below it name. */
export const receiversOf = ({ receiver, routes = [] }: AlertmanagerRoute): ReadonlyArray<string> => [
  ...(receiver === undefined ? [] : [receiver]),
  ...routes.flatMap(receiversOf),
]

/** A route that mutes during time intervals, or outside of them. */
export interface MutedRoute {
  readonly intervals: ReadonlyArray<string>
  readonly isActive: boolean
  readonly condition: Alternatives
  readonly place: string
  readonly receiver: string
}

/** A route of a policy, which alerts reach it, and which route it was. */
export interface TakenRoute {
  readonly all: Alternatives[number]
  readonly place: string
  readonly route: { readonly to: ReadonlyArray<string> }
}

/** After this time Alertmanager repeats, unless a route says otherwise. */
const REPEAT_INTERVAL = "4h"
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

/** As many conditions as a route may have. Rather one receiver too many than none: those that only exclude go. */
const bounded = (all: Alternatives[number]): Alternatives[number] =>
  all.toSorted((a, b) => Number(isPositive(b)) - Number(isPositive(a))).slice(0, MAX_MATCHERS)

/**
 * Takes a tree of routes over, with its mute times, and names the parts that a policy cannot state. In Alertmanager an alert goes to the first child that matches, and to
 * its siblings only where it continues; in a policy, every route that matches names its receivers. So
 * each route excludes those before it.
 */
export const takeRoutes = (root: AlertmanagerRoute, receiverName: (name: string) => string) => {
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
    const remind = remindOf(repeat_interval)
    if (remind === undefined)
      notes.push(`${place}: repeat_interval ${repeat_interval} is not between 15m and 31d`)
    for (const all of condition) {
      if (all.length > MAX_MATCHERS)
        notes.push(
          `${place} also gets alerts of a route before it: a route has ${MAX_MATCHERS} matchers at most`,
        )
      const kept = bounded(all)
      const match = matchOf(kept)
      const to = [receiverName(receiver)]
      routes.push({ all: kept, place, route: { ...(match && { match }), to, ...(remind && { remind }) } })
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
    let left = available
    let unmatched = available
    for (const [index, child] of (route.routes ?? []).entries()) {
      const childPlace = `${place}.routes[${index}]`
      const condition = conditionsOf(child.match, child.match_re, child.matchers)
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
    const muting = { condition: unmatched, place, receiver: receiverName(own.receiver) }
    const { active_time_intervals, mute_time_intervals } = route
    if (mute_time_intervals?.length)
      muted.push({ ...muting, intervals: mute_time_intervals, isActive: false })
    if (active_time_intervals?.length)
      muted.push({ ...muting, intervals: active_time_intervals, isActive: true })
  }

  walk(root, ALWAYS, {
    receiver: root.receiver ?? "default",
    repeat_interval: REPEAT_INTERVAL,
    place: "route",
  })
  return { routes, muted, notes: Array.from(new Set(notes)) }
}

interface Inherited {
  readonly receiver: string
  readonly repeat_interval: string
  readonly place: string
}
