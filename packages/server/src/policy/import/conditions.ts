import { type Matcher, parseMatcher } from "@tocsin/contract/labels/Matcher"
import { formatMatcher } from "@tocsin/contract/labels/matcherText"
import { Result, Schema } from "effect"

export const optionalText = Schema.optionalKey(Schema.String)
export const optionalTexts = Schema.optionalKey(Schema.Array(Schema.String))
/** Conditions in the two forms of older configurations. */
export const optionalLabels = Schema.optionalKey(
  Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Boolean])),
)
type Labels = Readonly<Record<string, string | boolean>>
export const optionalMatchers = Schema.optionalKey(Schema.Union([Schema.String, Schema.Array(Schema.String)]))

/** Conditions that must all hold; of several lists, one must. Absent where matchers cannot state it. */
export type Alternatives = ReadonlyArray<ReadonlyArray<Matcher>>

export const ALWAYS: Alternatives = [[]]

/** More alternatives than people read: each is a route. */
const MOST_ALTERNATIVES = 64

const TEXT =
  /^\s*"?(?<label>[^"=!~\s]+)"?\s*(?<op>=~|!~|!=|=)\s*(?:"(?<quoted>(?:[^"\\]|\\.)*)"\s*|(?<bare>(?:[^"\s][^"]*)?))$/u

/** Matchers between commas, which texts in quotes may contain. */
const separate = (text: string): ReadonlyArray<string> =>
  text.replace(/^\s*\{|\}\s*$/gu, "").match(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/gu) ?? []

/** Characters that a regular expression gives a meaning, and a glob. */
const SPECIAL = /[*?+()[\]{}^$|.]/u

/** The characters of a class such as `[a-c1]`; absent if it says more. */
const classOf = (token: string): ReadonlyArray<string> | undefined => {
  const inner = token.slice(1, -1)
  if (inner === "" || /[\\^*?]/u.test(inner)) return undefined
  return (inner.match(/.-.|./gsu) ?? []).flatMap((part) => {
    const [first = 0, last = first] = [
      part.codePointAt(0),
      part.length === 3 ? part.codePointAt(2) : undefined,
    ]
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) =>
      String.fromCodePoint(first + index),
    )
  })
}

const literalOf = (token: string): ReadonlyArray<string> | undefined => {
  if (token.length === 1) return SPECIAL.test(token) ? undefined : [token]
  return /^\\[^A-Za-z0-9*?]$/u.test(token) ? [token.slice(1)] : undefined
}

/**
 * A regular expression as texts and globs: alternatives, groups, classes and what may be absent,
 * as far as they are few. Absent if it says more.
 */
const globsOf = (pattern: string): ReadonlyArray<string> | undefined => {
  // It is compared with the whole value anyway.
  const tokens = pattern.replace(/^\^|(?<!\\)\$$/gu, "").match(/\\.|\(\?:|\[[^\]]{1,100}\]|./gsu) ?? []
  let at = 0
  const group = (): ReadonlyArray<string> | undefined => {
    const inner = alternatives()
    at += 1
    return tokens[at - 1] === ")" ? inner : undefined
  }
  const dot = (): ReadonlyArray<string> => {
    const [repeat = ""] = tokens.slice(at, at + 1)
    if (repeat === "*" || repeat === "+") at += 1
    return [repeat === "*" ? "*" : repeat === "+" ? "?*" : "?"]
  }
  const part = (): ReadonlyArray<string> | undefined => {
    const token = tokens[at] ?? ""
    at += 1
    if (token === ".") return dot()
    const isGroup = token === "(" || token === "(?:"
    const found = isGroup ? group() : token.startsWith("[") ? classOf(token) : literalOf(token)
    if (tokens[at] !== "?") return /^[*+{]/u.test(tokens[at] ?? "") ? undefined : found
    at += 1
    return found && [...found, ""]
  }
  const sequence = (): ReadonlyArray<string> | undefined => {
    let globs: ReadonlyArray<string> | undefined = [""]
    while (globs !== undefined && at < tokens.length && tokens[at] !== "|" && tokens[at] !== ")") {
      const next = part()
      globs = next && globs.flatMap((start) => next.map((end) => start + end)).slice(0, MOST_ALTERNATIVES + 1)
    }
    return globs
  }
  const alternatives = (): ReadonlyArray<string> | undefined => {
    const first = sequence()
    if (tokens[at] !== "|") return first
    at += 1
    const others = alternatives()
    return first && others && [...first, ...others]
  }
  const globs = alternatives()
  return at === tokens.length && globs !== undefined && globs.length <= MOST_ALTERNATIVES ? globs : undefined
}

const atom = (label: string, op: Matcher["op"], value: string): Matcher => ({
  field: `label:${label}`,
  op,
  value,
})

const hasWildcard = (glob: string): boolean => /[*?]/u.test(glob)

/** A glob as a condition: any text says nothing, and any but none is a label that is present. */
const conditionOfGlob = (label: string, glob: string): ReadonlyArray<Matcher> => {
  if (glob === "*") return []
  if (glob === "?*") return [atom(label, "!=", "")]
  return [atom(label, hasWildcard(glob) ? "glob" : "=", glob)]
}

/** Whether a policy can state a matcher: its value in one line, without spaces around it. */
const isWritable = (matcher: Matcher): boolean =>
  Result.match(parseMatcher(formatMatcher(matcher)), {
    onSuccess: (read) => isSame(read, matcher),
    onFailure: () => false,
  })

const conditionOf = (label: string, op: string, value: string): Alternatives | undefined => {
  const isEqual = op === "=" || op === "!="
  const any = isEqual
    ? [[atom(label, op, value)]]
    : globsOf(value)?.map((glob) => conditionOfGlob(label, glob))
  if (!any?.flat().every(isWritable)) return undefined
  if (isEqual) return any
  return op === "=~" ? any : not(any)
}

/** Escapes in quotes. Before anything else a backslash stays, for regular expressions. */
const ESCAPES = /\\(["\\n])/gu

const read = (text: string): Alternatives | undefined => {
  const { bare = "", label, op, quoted } = TEXT.exec(text)?.groups ?? {}
  if (label === undefined || op === undefined) return undefined
  return conditionOf(
    label,
    op,
    quoted === undefined
      ? bare.trimEnd()
      : quoted.replace(ESCAPES, (_, escaped: string) => (escaped === "n" ? "\n" : escaped)),
  )
}

const isSame = (a: Matcher, b: Matcher): boolean =>
  a.field === b.field && a.op === b.op && a.value === b.value

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
      !all.slice(0, index).some((other) => isSame(other, { field, op, value })) &&
      !(op === "!=" && all.some((other) => other.field === field && other.op === "=")),
  )

/** Without the alternatives that another one includes. */
const absorb = (given: Alternatives): Alternatives =>
  given.filter((all, index) =>
    given.every(
      (other, at) =>
        at === index ||
        !other.every((one) => all.some((each) => isSame(one, each))) ||
        (other.length === all.length && at > index),
    ),
  )

export const and = (a: Alternatives, b: Alternatives | undefined): Alternatives | undefined => {
  if (b === undefined) return undefined
  const all = a.flatMap((first) => b.map((second) => [...first, ...second]))
  const possible = absorb(all.filter((each) => !isImpossible(each)).map(simplify))
  return possible.length > MOST_ALTERNATIVES ? undefined : possible
}

export const not = (condition: Alternatives | undefined): Alternatives | undefined => {
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
export const conditionsOf = (
  equal: Labels | undefined,
  regular: Labels | undefined,
  matchers: string | ReadonlyArray<string> | undefined,
): Alternatives | undefined => {
  const all = [
    ...Object.entries(equal ?? {}).map(([label, value]) => conditionOf(label, "=", String(value))),
    ...Object.entries(regular ?? {}).map(([label, value]) => conditionOf(label, "=~", String(value))),
    ...[matchers ?? []].flat().flatMap(separate).map(read),
  ]
  return all.reduce<Alternatives | undefined>((joined, each) => joined && and(joined, each), ALWAYS)
}

/** Texts of a policy for a condition; absent where it always holds. */
export const matchOf = (all: Alternatives[number]): ReadonlyArray<string> | undefined =>
  all.length === 0 ? undefined : all.map(formatMatcher)
