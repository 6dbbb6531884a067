import {
  compileField,
  compileMatchers,
  type MatchedFacts,
  type Matcher,
} from "@tocsin/contract/labels/Matcher"

/** Finds the lists of matchers that hold, by their positions, in no order. */
export type FindMatching = (facts: Partial<MatchedFacts>) => ReadonlyArray<number>

/** A list that must be compared where it stands in the index. */
interface Candidate {
  readonly position: number
  readonly matches: (facts: Partial<MatchedFacts>) => boolean
}

interface IndexedField {
  readonly valueOf: (facts: Partial<MatchedFacts>) => string
  readonly byValue: Map<string, Array<Candidate>>
}

/**
 * Compiles lists of matchers once for many comparisons. A list with `=` is compared only with facts that
 * have the value of one such matcher: the one that the fewest lists share.
 */
export const indexMatchers = (lists: ReadonlyArray<ReadonlyArray<Matcher>>): FindMatching => {
  const shares = new Map<string, number>()
  for (const list of lists)
    for (const key of new Set(list.filter(isEqual).map(keyOf))) shares.set(key, (shares.get(key) ?? 0) + 1)
  const shareOf = (matcher: Matcher) => shares.get(keyOf(matcher)) ?? 0
  const fields = new Map<Matcher["field"], IndexedField>()
  const unindexed: Array<Candidate> = []
  for (const [position, list] of lists.entries()) {
    const [first, ...others] = list.filter(isEqual)
    if (first === undefined) {
      unindexed.push({ position, matches: compileMatchers(list) })
      continue
    }
    const rarest = others.reduce((a, b) => (shareOf(b) < shareOf(a) ? b : a), first)
    const { field, value } = rarest
    const rest = list.filter((matcher) => matcher !== rarest)
    const candidate = { position, matches: compileMatchers(rest) }
    const { byValue } = fields.get(field) ?? emptyField(fields, field)
    const candidates = byValue.get(value)
    if (candidates === undefined) byValue.set(value, [candidate])
    else candidates.push(candidate)
  }
  const indexed = Array.from(fields.values())
  return (facts) => {
    const found: Array<number> = []
    const compare = (candidates: ReadonlyArray<Candidate> = []) => {
      for (const { matches, position } of candidates) if (matches(facts)) found.push(position)
    }
    compare(unindexed)
    for (const { byValue, valueOf } of indexed) compare(byValue.get(valueOf(facts)))
    return found
  }
}

const isEqual = ({ op }: Matcher): boolean => op === "="

const keyOf = ({ field, value }: Matcher): string => `${field} ${value}`

const emptyField = (fields: Map<Matcher["field"], IndexedField>, field: Matcher["field"]): IndexedField => {
  const empty = { valueOf: compileField(field), byValue: new Map<string, Array<Candidate>>() }
  fields.set(field, empty)
  return empty
}
