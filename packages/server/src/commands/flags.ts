import { describeIssue } from "@tocsin/contract/formats/describeIssue"
import { TitleRequest } from "@tocsin/contract/titles/Titles"
import { boundedMillis } from "@tocsin/contract/formats/durationMillis"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Duration, Effect, identity, Option, Record, Result, Schema, SchemaParser } from "effect"
import { Argument, Flag } from "effect/cli"
import { notFound, usageFailure } from "../CommandFailure.ts"
import { confirm } from "../output/Output.ts"
import * as settingTypes from "../settings/settingTypes.ts"

/**
 * Reads arguments as the API reads a body, a path or a query, with its messages. An argument that is
 * not given is absent.
 */
export const readArguments = <S extends Schema.ConstraintDecoder<unknown>>(
  schema: S,
  given: Readonly<Record<string, unknown>>,
) =>
  Effect.fromResult(
    Result.mapError(
      SchemaParser.decodeUnknownResult(schema)(Record.filter(given, (value) => value !== undefined)),
      (issue) => usageFailure(describeIssue(issue, "the parameters")),
    ),
  )

/** Reads all arguments of a command by one schema. */
export const reader =
  <S extends Schema.ConstraintDecoder<unknown>>(schema: S) =>
  (given: Readonly<Record<string, unknown>>) =>
    readArguments(schema, given)

/** The same for an act that cannot be undone, which `question` names. */
export const confirmed =
  <S extends Schema.ConstraintDecoder<unknown>>(schema: S, question: (taken: S["Type"]) => string) =>
  ({ yes: isConfirmed, ...given }: { readonly yes: boolean }) =>
    Effect.tap(readArguments(schema, given), (taken) => confirm(question(taken), isConfirmed))

export const argument = (name: string, description: string) =>
  Argument.String(name).pipe(Argument.withDescription(description))

export const noSuchCheck = notFound("no agent has this check; list checks with tocsin checks")

export const checkArgument = argument("AGENT/CHECK", "The agent and its check")

/** The names in {@link checkArgument}. */
export const checkIn = (text: string) => {
  const [agent_id, check_id, ...others] = text.split("/")
  return check_id === undefined || others.length > 0
    ? Effect.fail(usageFailure(`${text} is not AGENT/CHECK: write it as web-1/disk`))
    : Effect.succeed({ agent_id, check_id })
}

export const titleArgument = argument("TITLE", "What people call it; empty to take a title back")

/** The title in {@link titleArgument}. */
export const titleIn = (text: string) =>
  Effect.map(readArguments(TitleRequest, { title: text === "" ? null : text }), ({ title }) => title)

export const flag = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withoutNegation, Flag.withDefault(false))

const orUndefined = <A>(given: Flag.Flag<A>) => Flag.map(Flag.optional(given), Option.getOrUndefined)

export const text = (name: string, description: string) =>
  orUndefined(Flag.String(name).pipe(Flag.withDescription(description)))

/** The same flag by another name too. */
export const aliased = <A>(alias: string, given: Flag.Flag<A>) => Flag.withAlias(given, alias)

const DATE = /^\d{4}-\d\d-\d\d$/

/** An optional time, as the API has it: also as a date, which begins by UTC, as how long ago it was, or as now. */
export const time = (name: string, description: string, former: string = name) =>
  orUndefined(
    Flag.String(name).pipe(
      Flag.withDescription(`${description}: 2027-01-31T08:30:00Z, 2027-01-31, 2h for as long ago, or now`),
      former === name ? identity : Flag.withAlias(former),
      Flag.mapEffect((given) => {
        const ago = given === "now" ? 0 : boundedMillis(given, { min: 0 })
        const written = DATE.test(given) ? `${given}T00:00:00Z` : given
        return Effect.map(Instant.now, (now) =>
          ago === undefined ? written : Instant.format(Instant.minus(now, Duration.millis(ago))),
        )
      }),
    ),
  )

const Since = Schema.Struct({ since: Schema.optionalKey(Instant.InstantFromString) })

/** Where a span begins that ends now. */
export const beginOf = Effect.fnUntraced(function* (given: string | undefined, usual: Duration.Duration) {
  const now = yield* Instant.now
  const { since = Instant.minus(now, usual) } = yield* readArguments(Since, { since: given })
  return since < now
    ? since
    : yield* usageFailure("since must be in the past: write a time, or 2h for as long ago")
})

export const integer = (name: string, description: string) =>
  orUndefined(Flag.Int(name).pipe(Flag.withDescription(description)))

export const id = <A>(name: string, schema: Schema.ConstraintCodec<A, string>, description: string) =>
  orUndefined(Flag.String(name).pipe(Flag.withDescription(description), Flag.withSchema(schema)))

/** A duration, as settings have it. */
export const duration = (name: string, description: string) =>
  Flag.String(name).pipe(
    Flag.withDescription(description),
    Flag.filterMap(
      (given) => Option.fromUndefinedOr(settingTypes.duration.parse(given)),
      () => `Expected: ${settingTypes.duration.takes}`,
    ),
  )

/** An optional filter by one of several values. */
export const filter = <const Values extends ReadonlyArray<string>>(
  name: string,
  values: Values,
  description: string,
) => orUndefined(Flag.Literals(name, values).pipe(Flag.withDescription(description)))

/** The order of a list; the first of the values is the default. */
export const choice = <const Value extends string>(
  name: string,
  values: readonly [Value, ...ReadonlyArray<Value>],
  description: string,
) =>
  Flag.Literals(name, values).pipe(
    Flag.withDescription(`${description} (default: ${values[0]})`),
    Flag.withDefault(values[0]),
  )

export const json = flag("json", "Write one JSON document, with the field names of the API")

/** Refuses two formats of one result. */
export const oneFormat = (given: { readonly csv?: unknown; readonly json: boolean }) =>
  given.csv === true && given.json
    ? usageFailure("--csv and --json exclude each other: give one of them")
    : Effect.void

export const yes = flag("yes", "Do it without asking").pipe(Flag.withAlias("y"))

export const progress = flag(
  "progress",
  "Write progress as lines to standard error, even if it is not a terminal",
)

const limit = orUndefined(
  Flag.Int("limit").pipe(
    Flag.withDescription("Show at most this many rows (default: 100, with --csv all)"),
    Flag.filter(
      (rows) => rows >= 1,
      (rows) => `Expected: a whole number above 0, got ${rows}`,
    ),
  ),
)

export const list = {
  limit,
  all: flag("all", "Show the whole list"),
  json,
  csv: flag("csv", "Write the list as CSV for spreadsheets, with the field names of the API"),
}
