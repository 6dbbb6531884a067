import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { described, named, optional, timestamp } from "../formats/Fields.ts"
import { AgentId, CheckId } from "../formats/Identifiers.ts"
import { InstantFromString } from "../formats/Instant.ts"
import { Matcher, MAX_MATCHERS, parseMatcher } from "../labels/Matcher.ts"
import { formatMatcher } from "../labels/matcherText.ts"
import { flag, paging } from "../v1/Parameters.ts"

/** The items of a text with commas between them. */
const listIn = <Item extends Schema.Constraint>(
  item: Item,
  parse: (text: string) => Result.Result<Item["Type"], unknown>,
  write: (item: Item["Type"]) => string,
  { expected, most, only }: { readonly expected: string; readonly most: number; readonly only: string },
) =>
  Schema.String.annotate({ expected, description: `${only}: ${expected}.` }).pipe(
    Schema.decodeTo(
      Schema.toType(Schema.Array(item)),
      SchemaTransformation.transformEffect<ReadonlyArray<Item["Type"]>, string>({
        decode: (text, options) => {
          const items = Result.all(text.split(",").map(parse))
          return Result.isFailure(items) || items.success.length > most
            ? Effect.fail(new SchemaIssue.InvalidValue({ expected }, text, options))
            : Effect.succeed(items.success)
        },
        encode: (items) => Effect.succeed(items.map(write).join(",")),
      }),
    ),
  )

const MatcherList = listIn(Matcher, parseMatcher, formatMatcher, {
  expected: `at most ${MAX_MATCHERS} matchers with commas between them, such as agent_id = web1, label:team = db`,
  most: MAX_MATCHERS,
  only: "Only checks that fit these matchers",
})

/** More than a screen of rows shows. */
const MAX_NAMED = 100
const CheckName = Schema.Struct({ agent_id: AgentId, check_id: CheckId })

const NameList = listIn(
  CheckName,
  (text) => {
    const [, agent_id, check_id] = /^([^/]*)\/(.*)$/.exec(text.trim()) ?? []
    return Schema.decodeUnknownResult(CheckName)({ agent_id, check_id })
  },
  ({ agent_id, check_id }) => `${agent_id}/${check_id}`,
  {
    expected: `at most ${MAX_NAMED} names of checks with commas between them, such as web1/disk,web2/load`,
    most: MAX_NAMED,
    only: "Only these checks, all on one page",
  },
)

export const AvailabilityParameters = Schema.Struct({
  match: Schema.optionalKey(MatcherList),
  checks: Schema.optionalKey(NameList),
  from: Schema.optionalKey(timestamp("Where the span begins: 24 hours before its end without.")),
  to: Schema.optionalKey(timestamp("Where the span ends, not in the future: now without.")),
  phases: flag("Whether each check comes with its phases, in the order of time."),
  ...paging,
})
export type AvailabilityParameters = typeof AvailabilityParameters.Type

/** The states that the availability of a check counts (docs/rules.md#availability). */
export const AvailabilityState = Schema.Literals([
  "ok",
  "warning",
  "critical",
  "unknown",
  "late",
  "planned",
  "no_data",
])
export type AvailabilityState = typeof AvailabilityState.Type

const Seconds = Schema.Struct({
  ok: Schema.Int,
  warning: Schema.Int,
  critical: Schema.Int,
  unknown: Schema.Int,
  planned: Schema.Int.annotateKey({ description: "A window covered the check, and it was not ok." }),
  no_data: described(Schema.Int, "Before its first result, and while its agent was dead."),
  late: described(Schema.Int, "From when it was found late to its next result; not ok."),
}).annotate({ description: "Whole seconds in each state; they add up to exactly the span." })

/** A time during which a check stayed in one state, to the second. */
export const AvailabilityPhase = Schema.Struct({ from: InstantFromString, state: AvailabilityState })
export type AvailabilityPhase = typeof AvailabilityPhase.Type

export const CheckAvailability = Schema.Struct({
  agent_id: AgentId,
  check_id: CheckId,
  from: InstantFromString,
  to: InstantFromString,
  seconds: Seconds,
  percent: Schema.NullOr(Schema.Finite).annotateKey({
    description:
      "ok in per cent of the seconds that are neither planned nor no_data, cut to three decimals: 100 only if all are ok. null if there are none.",
  }),
  phases: optional(
    Schema.Array(AvailabilityPhase),
    "Its phases; each ends where the next begins, the last one at to.",
  ),
}).annotate(named("CheckAvailability", "How long a check was in each state during a span."))
export type CheckAvailability = typeof CheckAvailability.Type

/** Whether a check warned and was never worse, nor late: it was there all the time, whatever its per cent. */
export const hasOnlyWarned = ({ critical, late, unknown, warning }: CheckAvailability["seconds"]): boolean =>
  warning > 0 && critical + late + unknown === 0
