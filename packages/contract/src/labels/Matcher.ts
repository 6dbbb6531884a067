import { Result, Schema } from "effect"
import { compileGlob } from "../formats/compileGlob.ts"
import { closedStruct, named } from "../formats/Fields.ts"
import type { AgentId, CheckId, IncidentKey } from "../formats/Identifiers.ts"
import { FIELD_NAMES, FIELDS, LABEL_FIELD, OPERATORS, readMatcher } from "./matcherText.ts"
import { Severity } from "../formats/Status.ts"
import { isPlainText } from "../formats/Text.ts"

export const MAX_MATCHERS = 20

/** The refusal of a longer list, or of something else. */
export const MATCHERS_RULE = { expected: `a list of at most ${MAX_MATCHERS} matchers` }

/** Most matchers of all silences that have not ended, and of each list of a policy; some may be globs. */
export const MOST_TOGETHER = { matchers: 5_000, globs: 200 } as const

/** Whether lists of matchers are more together than {@link MOST_TOGETHER}: each decision may compare them all. */
export const areTooMany = (lists: ReadonlyArray<ReadonlyArray<{ readonly op: string }>>): boolean => {
  const all = lists.flat()
  return (
    all.length > MOST_TOGETHER.matchers || all.filter(({ op }) => op === "glob").length > MOST_TOGETHER.globs
  )
}

/** The subject of a matcher: a field of the incident, the check or the agent, or one of the agent's labels. */
export const MatcherField = Schema.Union([
  Schema.Literals(FIELDS),
  Schema.TemplateLiteral(["label:", Schema.String]).check(
    Schema.isPattern(LABEL_FIELD, {
      expected: "label: and 1 to 64 letters, digits or the characters . _ : -",
    }),
  ),
]).annotate({ identifier: "MatcherField", description: `must be ${FIELD_NAMES}`, expected: FIELD_NAMES })
export type MatcherField = typeof MatcherField.Type

/** How a matcher compares: the whole value, case included; `glob` knows `*` and `?`. */
const MatcherOp = Schema.Literals(OPERATORS).annotate(
  named("MatcherOp", "How a matcher compares; glob knows * and ?, and fits the whole value."),
)

const isSeverity = Schema.is(Severity)
/** Whether a condition on the severity compares it with what no incident has. */
const namesNoSeverity = ({ field, op, value }: Readonly<Record<"field" | "op" | "value", string>>): boolean =>
  field === "severity" && op !== "glob" && !isSeverity(value)
const SEVERITY_RULE = "must compare severity with warning, unknown or critical"

/** One condition on an incident, its check or its agent. */
export const Matcher = closedStruct({
  field: MatcherField,
  op: MatcherOp,
  value: Schema.String.check(isPlainText({ min: 0, max: 256 })),
}).check(Schema.makeFilter((matcher) => (namesNoSeverity(matcher) ? SEVERITY_RULE : undefined)))
export type Matcher = typeof Matcher.Type

/**
 * Whether a matcher narrows a list down to something that people can name. An empty value does not: a field that is
 * absent equals it.
 */
export const isPositive = ({ field, op, value }: Matcher): boolean =>
  field !== "severity" && op !== "!=" && (op === "=" ? /\S/u : /[^*?\s]/u).test(value)

/** The refusal of matchers none of which {@link isPositive}. */
export const NAMELESS_MESSAGE =
  "must hold at least one matcher that names something: = with a value, or a glob with a literal character, on a field other than severity"

/** Conditions that must all hold. */
export const MatcherList = Schema.Array(Matcher).check(Schema.isMaxLength(MAX_MATCHERS, MATCHERS_RULE))

/** Conditions that must all hold, at least one of which names what it means. */
export const Matchers = MatcherList.check(
  Schema.makeFilter<ReadonlyArray<Matcher>>((matchers) =>
    matchers.some(isPositive) ? undefined : NAMELESS_MESSAGE,
  ),
)
export type Matchers = typeof Matchers.Type

export interface MatchedFacts {
  readonly agent_id: AgentId
  readonly check_id: CheckId
  readonly incident_key: IncidentKey
  readonly hostname: string
  readonly severity: Severity
  readonly labels: Readonly<Record<string, string>>
}

/** Compiles the reading of a field. An absent label is the empty text. */
export const compileField = (field: MatcherField): ((facts: Partial<MatchedFacts>) => string) => {
  const [, key] = /^label:(.*)$/su.exec(field) ?? []
  // Another field is one of these.
  if (key === undefined) return (facts) => facts[field as (typeof FIELDS)[number]] ?? ""
  return ({ labels }) => (labels && Object.hasOwn(labels, key) ? (labels[key] ?? "") : "")
}

const compile = ({ field, op, value }: Matcher): ((facts: Partial<MatchedFacts>) => boolean) => {
  const valueOf = compileField(field)
  switch (op) {
    case "=":
      return (facts) => valueOf(facts) === value
    case "!=":
      return (facts) => valueOf(facts) !== value
    case "glob": {
      const matches = compileGlob(value)
      // Members of an incident often share a value.
      let latest = { given: "", matches: matches("") }
      return (facts) => {
        const given = valueOf(facts)
        if (given !== latest.given) latest = { given, matches: matches(given) }
        return latest.matches
      }
    }
  }
}

/** Compiles matchers once for many comparisons: whether all of them hold. An empty list always holds. */
export const compileMatchers = (
  matchers: ReadonlyArray<Matcher>,
): ((facts: Partial<MatchedFacts>) => boolean) => {
  const compiled = matchers.map(compile)
  return (facts) => compiled.every((holds) => holds(facts))
}

/** Reads a matcher as people write it: `label:team = db`, `check_id glob disk*`. */
export const parseMatcher = (text: string): Result.Result<Matcher, string> => {
  const written = readMatcher(text)
  if (typeof written === "string") return Result.fail(written)
  if (namesNoSeverity(written)) return Result.fail(SEVERITY_RULE)
  return Result.mapError(
    Schema.decodeUnknownResult(Matcher)(written),
    () => "must have a value of at most 256 characters without control characters",
  )
}
