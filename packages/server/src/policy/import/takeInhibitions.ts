import { isPositive, MAX_MATCHERS } from "@tocsin/contract/labels/Matcher"
import { LABEL_FIELD } from "@tocsin/contract/labels/matcherText"
import { Schema } from "effect"
import {
  type Alternatives,
  and,
  conditionsOf,
  matchOf,
  optionalLabels,
  optionalMatchers,
  optionalTexts,
} from "./conditions.ts"

/** A rule of inhibition, in any of the forms that Alertmanager has had. */
export const InhibitRule = Schema.Struct({
  source_match: optionalLabels,
  source_match_re: optionalLabels,
  source_matchers: optionalMatchers,
  target_match: optionalLabels,
  target_match_re: optionalLabels,
  target_matchers: optionalMatchers,
  equal: optionalTexts,
})
type InhibitRule = typeof InhibitRule.Type

type All = Alternatives[number]

interface Inhibition {
  readonly place: string
  readonly parent: Alternatives
  readonly child: Alternatives
  readonly equal: ReadonlyArray<string>
}

const readRule = (rule: InhibitRule, place: string): Inhibition | string => {
  const parent = conditionsOf(rule.source_match, rule.source_match_re, rule.source_matchers)
  const child = conditionsOf(rule.target_match, rule.target_match_re, rule.target_matchers)
  if (parent === undefined || child === undefined)
    return `${place}: its matchers; a policy has =, != and globs`
  const equal = rule.equal ?? []
  const unknown = equal.find((label) => !LABEL_FIELD.test(`label:${label}`))
  if (unknown !== undefined)
    return `${place}: its label ${unknown}; those of a policy have letters, digits and . _ : -`
  const isNamed = (all: All) => all.some(isPositive) && all.length <= MAX_MATCHERS
  const names =
    equal.length > 0
      ? isNamed
      : (all: All) => isNamed(all) && all.some((one) => one.op === "=" && isPositive(one))
  return parent.every(names) && child.every(isNamed)
    ? { place, parent, child, equal }
    : `${place}: a dependency names both sides by =, or by a glob with equal labels, and by ${MAX_MATCHERS} matchers at most`
}

/** Labels that an alert of these conditions may lack. */
const absentOf = ({ child, equal, parent }: Inhibition): ReadonlyArray<string> =>
  equal.filter(
    (label) =>
      label !== "alertname" &&
      ![parent, child].some((side) =>
        side.every((all) =>
          all.some(({ field, op, value }) => field === `label:${label}` && (op === "!=") === (value === "")),
        ),
      ),
  )

const mayOverlap = (a: Alternatives, b: Alternatives): boolean => (and(a, b) ?? a).length > 0

/**
 * In a policy, a parent of one rule is a child of earlier rules only: a rule comes before those whose
 * parents it may hold, as far as that is possible.
 */
const ordered = (given: ReadonlyArray<Inhibition>): ReadonlyArray<Inhibition> => {
  const left = [...given]
  return given.flatMap(() => {
    const isFree = ({ parent }: Inhibition, index: number) =>
      left.every((other, at) => at === index || !mayOverlap(other.child, parent))
    return left.splice(Math.max(0, left.findIndex(isFree)), 1)
  })
}

/** Takes rules of inhibition over as dependencies, and names the parts that a policy cannot state. */
export const takeInhibitions = (rules: ReadonlyArray<InhibitRule>) => {
  const read = rules.map((rule, index) => readRule(rule, `inhibit_rules[${index}]`))
  const taken = ordered(read.filter((each) => typeof each !== "string"))
  const notes = read.filter((each) => typeof each === "string")
  for (const [index, rule] of taken.entries()) {
    const absent = absentOf(rule)
    if (absent.length > 0)
      notes.push(`${rule.place}: alerts without ${absent.join(", ")}; a label that both lack is not equal`)
    const before = taken.slice(0, index).find(({ parent }) => mayOverlap(rule.child, parent))
    if (before !== undefined)
      notes.push(`${rule.place}: alerts that ${before.place} takes as sources; only earlier rules hold them`)
  }
  const dependencies = taken.flatMap(({ child, equal, parent }) =>
    parent.flatMap((one) =>
      child.map((other) => ({
        parent: matchOf(one),
        child: matchOf(other),
        ...(equal.length > 0 && { equal: equal.map((label) => `label:${label}`) }),
      })),
    ),
  )
  return { dependencies, notes }
}
