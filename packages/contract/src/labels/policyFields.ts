import * as Instant from "../formats/Instant.ts"
import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { boundedText } from "../formats/Fields.ts"
import { MATCHERS_RULE, MAX_MATCHERS, Matcher, parseMatcher } from "./Matcher.ts"
import { formatMatcher } from "./matcherText.ts"
import { NotifierName } from "../formats/Status.ts"

/** A matcher as a policy writes it: `label:team = db`. */
const MatcherText = Schema.String.annotate({
  description: "A field, an operator (=, != or glob) and a value, such as: label:team = db",
}).pipe(
  Schema.decodeTo(
    Schema.toType(Matcher),
    SchemaTransformation.transformEffect<Matcher, string>({
      decode: (written, options) =>
        Result.match(parseMatcher(written), {
          onSuccess: (matcher) => Effect.succeed(matcher),
          onFailure: (message) => Effect.fail(new SchemaIssue.InvalidValue({ message }, written, options)),
        }),
      encode: (matcher) => Effect.succeed(formatMatcher(matcher)),
    }),
  ),
)
export const match = Schema.Array(MatcherText).check(Schema.isMaxLength(MAX_MATCHERS, MATCHERS_RULE))

export const whole = (minimum: number, maximum: number) => {
  const rule = { expected: `an integer from ${minimum} to ${maximum}` }
  return Schema.Number.check(Schema.isInt(rule), Schema.isBetween({ minimum, maximum }, rule))
}
export const text = (description: string) =>
  boundedText(1_024, "a text of 1 to 1,024 characters").annotate({ description })

export const cron = text("Five fields: minute, hour, day, month, weekday.")
/** A time of a clock that comes once; that of a day that does not exist is none. */
export const once = Schema.String.check(
  Schema.makeFilter<string>(
    (at) => /^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(at) && Instant.parse(`${at}:00Z`) !== undefined,
    {
      expected: "a time of a clock, such as 2026-12-06T02:00",
      toJsonSchema: () => ({ pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d$" }),
    },
  ),
).annotate({ description: "When it begins by the clock of tz, once, in place of cron." })
export const tz = text("An IANA time zone, such as Europe/Berlin.")

export const hours = Schema.String.check(
  Schema.isPattern(/^(?:[01]\d|2[0-3]):[0-5]\d-(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/u, {
    expected: "two times of day, such as 22:00-07:00; 24:00 may end them",
  }),
)
export const days = Schema.optionalKey(
  Schema.Union([
    text("Weekdays as in cron, such as mon-fri."),
    Schema.NonEmptyArray(Schema.Literals(["mon", "tue", "wed", "thu", "fri", "sat", "sun"])),
  ]).annotate({
    expected: "weekdays as in cron, such as mon-fri, or a list such as [mon, fri]",
    description: "The weekdays on which the hours begin; every day by default.",
  }),
)

const MOST_TOGETHER = 5
export const TOGETHER_RULE = { expected: `a list of 1 to ${MOST_TOGETHER} receivers, each once` }
export const receiversTogether = Schema.NonEmptyArray(NotifierName).check(
  Schema.isMaxLength(MOST_TOGETHER, TOGETHER_RULE),
  Schema.isUnique(TOGETHER_RULE),
)
