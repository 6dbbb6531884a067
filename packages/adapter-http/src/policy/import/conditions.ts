import type { Matcher } from "@tocsin/contract/Matcher"

/** Conditions that must all hold; of several lists, one must. Absent where matchers cannot state it. */
export type Alternatives = ReadonlyArray<ReadonlyArray<Matcher>>

/** Always holds. */
export const ALWAYS: Alternatives = [[]]

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

/** A matcher of Alertmanager. */
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

/** Both hold. */
export const and = (a: Alternatives, b: Alternatives | undefined): Alternatives | undefined => {
  if (b === undefined) return undefined
  const all = a.flatMap((first) => b.map((second) => [...first, ...second]))
  const possible = all.filter((each) => !isImpossible(each)).map(simplify)
  return possible.length > MOST_ALTERNATIVES ? undefined : possible
}

/** It does not hold. */
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
