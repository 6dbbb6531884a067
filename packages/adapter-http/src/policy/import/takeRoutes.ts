import { formatMatcher, type Matcher, MAX_MATCHERS } from "@tocsin/contract/Matcher"
import { boundedMillis, durationText } from "@tocsin/contract/durationMillis"
import { Schema } from "effect"

export const optionalText = Schema.optionalKey(Schema.String)
export const optionalTexts = Schema.optionalKey(Schema.Array(Schema.String))
const optionalLabels = Schema.optionalKey(Schema.Record(Schema.String, Schema.String))

const fields = {
  receiver: optionalText,
  match: optionalLabels,
  match_re: optionalLabels,
  matchers: Schema.optionalKey(Schema.Union([Schema.String, Schema.Array(Schema.String)])),
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

/** Conditions that must all hold; of several lists, one must. Absent where matchers cannot state it. */
type Alternatives = ReadonlyArray<ReadonlyArray<Matcher>>

const ALWAYS: Alternatives = [[]]

/** More alternatives than people read: each is a route. */
const MOST_ALTERNATIVES = 64

const TEXT =
  /^\s*"?(?<label>[^"=!~\s]+)"?\s*(?<op>=~|!~|!=|=)\s*(?:"(?<quoted>(?:[^"\\]|\\.)*)"\s*|(?<bare>(?:[^"\s][^"]*)?))$/u
const LABEL = /^[A-Za-z0-9._:-]{1,64}$/u

/** Matchers between commas, which texts in quotes may contain. */
const separate = (text: string): ReadonlyArray<string> =>
  text.replace(/^\s*\{|\}\s*$/gu, "").match(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/gu) ?? []

/** A regular expression as texts and globs; absent if it says more. */
const globsOf = (pattern: string): ReadonlyArray<string> | undefined => {
  const inner = /^\^?(?:\(\?:|\()?(.*?)\)?\$?$/su.exec(pattern)?.[1] ?? ""
  const globs = inner.split("|").map((alternative) => {
    const tokens = alternative.match(/\\.|\.[*+]|\.|[^\\.]/gsu) ?? []
    const parts = tokens.map((token) => {
      if (token === ".*") return "*"
      if (token === ".+") return "?*"
      if (token === ".") return "?"
      const literal = token.length === 2 ? token.slice(1) : token
      const isPlain = token.length === 2 ? /[^A-Za-z0-9*?]/u.test(literal) : /[^*?+()[\]{}^$|]/u.test(literal)
      return isPlain ? literal : undefined
    })
    return parts.some((part) => part === undefined) ? undefined : parts.join("")
  })
  return globs.every((glob) => glob !== undefined) ? globs : undefined
}

const atom = (label: string, op: Matcher["op"], value: string): Matcher => ({
  field: `label:${label}`,
  op,
  value,
})

const hasWildcard = (glob: string): boolean => /[*?]/u.test(glob)

const conditionOf = (label: string, op: string, value: string): Alternatives | undefined => {
  if (!LABEL.test(label) || value.length > 256) return undefined
  if (op === "=" || op === "!=") return [[atom(label, op, value)]]
  const globs = globsOf(value)
  if (globs === undefined) return undefined
  if (op === "=~") return globs.map((glob) => [atom(label, hasWildcard(glob) ? "glob" : "=", glob)])
  return globs.some(hasWildcard) ? undefined : [globs.map((glob) => atom(label, "!=", glob))]
}

const read = (text: string): Alternatives | undefined => {
  const { bare = "", label, op, quoted } = TEXT.exec(text)?.groups ?? {}
  if (label === undefined || op === undefined) return undefined
  return conditionOf(label, op, quoted === undefined ? bare.trimEnd() : quoted.replace(/\\(.)/gsu, "$1"))
}

const isImpossible = (all: ReadonlyArray<Matcher>): boolean =>
  all.some(
    ({ field, op, value }) =>
      op === "=" &&
      all.some(
        (other) =>
          other.field === field &&
          ((other.op === "=" && other.value !== value) || (other.op === "!=" && other.value === value)),
      ),
  )

/** Without repeated conditions, and those that an equality implies. */
const simplify = (all: ReadonlyArray<Matcher>): ReadonlyArray<Matcher> =>
  all.filter(
    ({ field, op, value }, index) =>
      !all
        .slice(0, index)
        .some((other) => other.field === field && other.op === op && other.value === value) &&
      !(op === "!=" && all.some((other) => other.field === field && other.op === "=")),
  )

const and = (a: Alternatives, b: Alternatives | undefined): Alternatives | undefined => {
  if (b === undefined) return undefined
  const all = a.flatMap((first) => b.map((second) => [...first, ...second]))
  const possible = all.filter((each) => !isImpossible(each)).map(simplify)
  return possible.length > MOST_ALTERNATIVES ? undefined : possible
}

const not = (condition: Alternatives | undefined): Alternatives | undefined => {
  let result: Alternatives | undefined = ALWAYS
  for (const all of condition ?? []) {
    if (result === undefined || all.some(({ op }) => op === "glob")) return undefined
    result = and(
      result,
      all.map(({ field, op, value }) => [{ field, op: op === "=" ? "!=" : "=", value }]),
    )
  }
  return condition && result
}

/** The condition of a route or rule, in any of the forms that Alertmanager has had; absent if matchers cannot state it. */
const conditionsOf = (
  equal: Readonly<Record<string, string>>,
  regular: Readonly<Record<string, string>>,
  texts: ReadonlyArray<string>,
): Alternatives | undefined => {
  const all = [
    ...Object.entries(equal).map(([label, value]) => conditionOf(label, "=", value)),
    ...Object.entries(regular).map(([label, value]) => conditionOf(label, "=~", value)),
    ...texts.flatMap(separate).map(read),
  ]
  return all.reduce<Alternatives | undefined>((joined, each) => joined && and(joined, each), ALWAYS)
}

/** A route that mutes during time intervals. */
export interface MutedRoute {
  readonly intervals: ReadonlyArray<string>
  readonly condition: Alternatives
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
 * Takes a tree of routes over, with its mute times, and names the parts that a policy cannot state. In Alertmanager an alert goes to the first child that matches, and to
 * its siblings only where it continues; in a policy, every route that matches names its receivers. So
 * each route excludes those before it.
 */
export const takeRoutes = (root: AlertmanagerRoute) => {
  const routes: Array<object> = []
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
  readonly place: string
}

const textsOf = (matchers: AlertmanagerRoute["matchers"]): ReadonlyArray<string> =>
  matchers === undefined ? [] : typeof matchers === "string" ? [matchers] : matchers
