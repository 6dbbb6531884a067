import { Effect, Result, Schema, SchemaIssue, SchemaTransformation } from "effect"
import { ExpectedIncident } from "./Expectations.ts"
import { named } from "./Fields.ts"
import { DurationText } from "./DurationText.ts"
import { NotifierName, Severity } from "./Status.ts"
import { isPlainText } from "./Text.ts"
import {
  ACCOUNT_NAME,
  MAIL_ADDRESS,
  MOST_RECIPIENTS,
  PHONE_NUMBER,
  SENDER,
  typesOf,
} from "./ReceiverTypes.ts"
import { MOST_WATCHES, PolicyWatch } from "./Watches.ts"
import { MATCHERS_RULE, MAX_MATCHERS, Matcher, MatcherField, parseMatcher } from "./Matcher.ts"
import { formatMatcher } from "./matcherText.ts"

/** A matcher as a policy writes it: `label:team = db`. */
const MatcherText = Schema.String.annotate({
  description: "A field, an operator (=, != or glob) and a value, such as: label:team = db",
}).pipe(
  Schema.decodeTo(
    Schema.toType(Matcher),
    SchemaTransformation.transformEffect<Matcher, string>({
      decode: (text, options) =>
        Result.match(parseMatcher(text), {
          onSuccess: (matcher) => Effect.succeed(matcher),
          onFailure: (message) => Effect.fail(new SchemaIssue.InvalidValue({ message }, text, options)),
        }),
      encode: (matcher) => Effect.succeed(formatMatcher(matcher)),
    }),
  ),
)
const match = Schema.Array(MatcherText).check(Schema.isMaxLength(MAX_MATCHERS, MATCHERS_RULE))

const whole = (minimum: number, maximum: number) => {
  const rule = { expected: `an integer from ${minimum} to ${maximum}` }
  return Schema.Number.check(Schema.isInt(rule), Schema.isBetween({ minimum, maximum }, rule))
}
const TEXT_RULE = { expected: "a text of 1 to 1,024 characters" }
const text = (description: string) =>
  Schema.String.check(Schema.isMinLength(1, TEXT_RULE), Schema.isMaxLength(1_024, TEXT_RULE)).annotate({
    description,
  })
const formed = (form: RegExp, description: string, expected: string) =>
  Schema.String.check(Schema.isPattern(form, { expected })).annotate({ description })
const VARIABLE_RULE = {
  expected: "the name of an environment variable: letters, digits and _, not first a digit",
}
const variable = (description: string) =>
  Schema.String.check(Schema.isPattern(/^[A-Za-z_][A-Za-z0-9_]{0,255}$/, VARIABLE_RULE)).annotate({
    description,
  })
const secret = <Name extends string>(name: Name, description: string) =>
  ({
    [`${name}_file`]: Schema.optionalKey(text(`A file that holds ${description}.`)),
    [`${name}_env`]: Schema.optionalKey(variable(`An environment variable that holds ${description}.`)),
    // Computed keys widen to string; these are the two of the template.
  }) as { readonly [Key in `${Name}_file` | `${Name}_env`]: Schema.optionalKey<Schema.String> }

const ADDRESSES_RULE = { expected: `1 to ${MOST_RECIPIENTS} addresses such as ops@example.org` }
const addresses = Schema.Array(Schema.String.check(Schema.isPattern(MAIL_ADDRESS, ADDRESSES_RULE))).check(
  Schema.isMinLength(1, ADDRESSES_RULE),
  Schema.isMaxLength(MOST_RECIPIENTS, ADDRESSES_RULE),
)

// Readers of the policy judge both by the type.
const FROM_EXPECTED =
  'an address such as Tocsin <tocsin@example.org>, or a number in quotes, such as "+4915112345678"'
const TO_RULE = {
  expected: `1 to ${MOST_RECIPIENTS} addresses such as ops@example.org, or a number in quotes, such as "+4915112345678"`,
}
const PHONE_OR_YES = new RegExp(`^yes$|${PHONE_NUMBER.source}`)

const concurrency = Schema.optionalKey(
  whole(1, 64).annotate({ description: "Attempts at a time; 32 by default." }),
)

const cron = text("Five fields: minute, hour, day, month, weekday.")
const tz = text("An IANA time zone, such as Europe/Berlin.")

const hours = Schema.String.check(
  Schema.isPattern(/^(?:[01]\d|2[0-3]):[0-5]\d-(?:[01]\d|2[0-3]):[0-5]\d$/u, {
    expected: "two times of day, such as 22:00-07:00",
  }),
)
const days = Schema.optionalKey(
  Schema.Union([
    text("Weekdays as in cron, such as mon-fri."),
    Schema.NonEmptyArray(Schema.Literals(["mon", "tue", "wed", "thu", "fri", "sat", "sun"])),
  ]).annotate({
    expected: "weekdays as in cron, such as mon-fri, or a list such as [mon, fri]",
    description: "The weekdays on which the hours begin; every day by default.",
  }),
)

export const Quiet = Schema.Struct({
  hours,
  tz,
  below: Schema.Literals(["unknown", "critical"]).annotate({
    description: "Firings of incidents that are milder than this wait.",
  }),
  days,
}).annotate(named("Quiet", "When a receiver is not notified of incidents that are milder than a severity."))
export type Quiet = typeof Quiet.Type

const quiet = Schema.optionalKey(Quiet)

const acknowledge = Schema.optionalKey(
  DurationText({ min: "1 minute", max: "7 days" }).annotate({
    description: "Messages have a link that acknowledges the incident for so long.",
  }),
)

const shadow = Schema.optionalKey(
  Schema.Boolean.annotate({ description: "Whether everything is decided for it, and nothing is sent." }),
)

const resolved = Schema.optionalKey(
  Schema.Boolean.annotate({
    description: "Whether it gets resolutions, and firings are retried after them; true by default.",
  }),
)

const receiver = <const Kind extends string, const Fields extends Schema.Struct.Fields>(
  kind: Kind,
  fields: Fields,
) => Schema.Struct({ kind: Schema.Literal(kind), ...fields, concurrency, quiet, acknowledge, shadow })

/** Where notifications go. Addresses and secrets stay outside the file. */
export const Receiver = Schema.Union([
  receiver("webhook", { ...secret("url", "the URL"), ...secret("secret", "the signing secrets"), resolved }),
  receiver("messenger", {
    type: Schema.optionalKey(Schema.Literals(typesOf("messenger"))),
    ...secret("url", "the URL of an incoming webhook, or that of the type's service"),
    from: Schema.optionalKey(
      formed(SENDER, "The sender: an address of mails, a number of messages to phones.", FROM_EXPECTED),
    ),
    to: Schema.optionalKey(
      Schema.Union([addresses, text("One number, or a group of Signal.")]).annotate(TO_RULE),
    ),
    cc: Schema.optionalKey(addresses),
    ...secret("token", "a token of the type's service"),
    ...secret("user", "Pushover's user or group key"),
    user: Schema.optionalKey(text("The address of Zulip's bot, or an API key of the account.")),
    account: Schema.optionalKey(
      formed(ACCOUNT_NAME, "The account at Twilio, or at a service with its API.", "letters, digits and -"),
    ),
    tag: Schema.optionalKey(text("Which services of Apprise's key get the message.")),
    call: Schema.optionalKey(
      formed(
        PHONE_OR_YES,
        "A verified number that ntfy calls on critical; yes for the first one.",
        'yes, or a number in quotes, such as "+4915112345678"',
      ),
    ),
    emergency: Schema.optionalKey(
      Schema.Boolean.annotate({
        description: "Whether Pushover repeats critical firings until one acknowledges.",
      }),
    ),
    stream: Schema.optionalKey(text("The Zulip channel to write to.")),
    topic: Schema.optionalKey(text("The topic in it.")),
    room: Schema.optionalKey(text("The ID of a Matrix room.")),
    tls: Schema.optionalKey(
      Schema.Literals(["required", "off"]).annotate({ description: "required by default." }),
    ),
    ...secret("telegram_token", "a Telegram bot's token"),
    telegram_chat: Schema.optionalKey(text("The Telegram chat to write to.")),
    resolved,
    digest: Schema.optionalKey(
      Schema.Struct({
        over: whole(1, 100).annotate({ description: "More due notifications become one message." }),
      }),
    ),
  }),
  receiver("alert_router", {
    type: Schema.optionalKey(Schema.Literals(typesOf("alert_router"))),
    ...secret("url", "the base URL of an Alertmanager, or that of the type's service"),
    ...secret("routing_key", "PagerDuty's integration key"),
    ...secret("key", "Opsgenie's API key"),
  }),
  receiver("debug", {}),
]).annotate({ expected: "a receiver whose kind is webhook, messenger, alert_router or debug" })
export type Receiver = typeof Receiver.Type

const MINUTE = "1 minute"
const WEEK = "7 days"
const MONTH = "31 days"

const TURN_RULE = { expected: "a receiver, or a list of 1 to 5 receivers" }
const turn = Schema.Union([
  NotifierName,
  Schema.NonEmptyArray(NotifierName).check(Schema.isMaxLength(5, TURN_RULE)),
]).annotate(TURN_RULE)
const ORDER_RULE = { expected: "a list of 1 to 50 turns, each a receiver or a list of receivers" }

/** Who is on call, by turns of a clock (docs/rules.md#on-call). */
export const Rota = Schema.Struct({
  tz: Schema.optionalKey(tz.annotate({ description: "An IANA time zone; UTC by default." })),
  order: Schema.NonEmptyArray(turn).check(Schema.isMaxLength(50, ORDER_RULE)),
  every: DurationText({ min: "1 hour", max: MONTH }).annotate({
    description: "How long a turn is: 1d to 31d, or hours that divide a day.",
  }),
  from: Schema.String.check(
    Schema.isPattern(/^\d{4}-\d{2}-\d{2}T(?:[01]\d|2[0-3]):[0-5]\d$/u, {
      expected: "a date and a time of day in quotes, such as 2026-12-07T09:00",
    }),
  ).annotate({ description: "When the first turn begins, by the clock of the time zone." }),
  hours: Schema.optionalKey(
    Schema.NonEmptyArray(Schema.Struct({ hours, days })).check(
      Schema.isMaxLength(20, { expected: "a list of at most 20 hours" }),
    ),
  ),
  otherwise: Schema.optionalKey(
    turn.annotate({ description: "Who is on call outside the hours: receivers, or another rota." }),
  ),
}).annotate(named("Rota", "Names who is on call: one turn of its order at a time."))
export type Rota = typeof Rota.Type

/** Which receivers are notified, after how long, and how often they are reminded. */
export const Route = Schema.Struct({
  match: Schema.optionalKey(match),
  after: Schema.optionalKey(DurationText({ min: 0, max: WEEK })),
  flapping: Schema.optionalKey(
    Schema.Struct({
      openings: whole(2, 1_000),
      within: DurationText({ min: MINUTE, max: WEEK }),
      after: DurationText({ min: 0, max: WEEK }),
    }),
  ),
  remind: Schema.optionalKey(DurationText({ min: "15 minutes", max: MONTH })),
  to: Schema.optionalKey(Schema.NonEmptyArray(NotifierName)),
  steps: Schema.optionalKey(
    Schema.NonEmptyArray(
      Schema.Struct({
        after: Schema.optionalKey(DurationText({ min: "1 second", max: WEEK })),
        to: Schema.NonEmptyArray(NotifierName),
      }),
    ),
  ),
})
export type Route = typeof Route.Type

/** A maintenance window that returns by the clock of a time zone. */
export const Window = Schema.Struct({
  name: Schema.String.check(
    Schema.isPattern(/^[a-z0-9][a-z0-9._-]{0,62}$/u, {
      expected: "1 to 63 lower-case letters, digits or . _ -",
    }),
  ),
  cron,
  tz,
  for: DurationText({ min: MINUTE, max: WEEK }),
  match,
  comment: Schema.optionalKey(text("Why.")),
})
export type Window = typeof Window.Type

/** How often checks must report, where their agent has not declared it. */
export const Freshness = Schema.Struct({
  match,
  every: Schema.optionalKey(DurationText({ min: "10 seconds", max: MONTH })),
  after: Schema.optionalKey(DurationText({ min: "1 second", max: "93 days" })),
  cron: Schema.optionalKey(cron),
  tz: Schema.optionalKey(tz),
  grace: Schema.optionalKey(DurationText({ min: "1 second", max: WEEK })),
  severity: Schema.optionalKey(Severity),
  incident: Schema.optionalKey(ExpectedIncident),
})
export type Freshness = typeof Freshness.Type

export const Dependency = Schema.Struct({
  parent: match,
  child: match,
  equal: Schema.optionalKey(
    Schema.Array(MatcherField)
      .check(Schema.isMaxLength(MAX_MATCHERS, { expected: "a list of at most 20 fields" }))
      .annotate({ description: "The fields that have the same value in both." }),
  ),
  grace: Schema.optionalKey(
    DurationText({ min: "1 second", max: "10 minutes" }).annotate({
      description: "How long a firing of a child waits for a parent from its due time on.",
    }),
  ),
}).annotate(
  named("Dependency", "Firings of the incidents of child wait while an incident of parent is open."),
)
export type Dependency = typeof Dependency.Type

/** The address of a runbook: no character means anything in a message. */
export const RUNBOOK_URL = /^https?:\/\/[\w.~:/?#&=+,;%-]{1,1000}$/
const RUNBOOK_RULE = {
  expected: "a URL that begins with http:// or https://, of letters, digits and - . _ ~ : / ? # & = + , ; %",
}

export const Runbook = Schema.Struct({
  match,
  url: Schema.String.check(Schema.isPattern(RUNBOOK_URL, RUNBOOK_RULE)),
  note: Schema.optionalKey(
    Schema.String.check(isPlainText({ min: 1, max: 200 })).annotate({ description: "Its title." }),
  ),
}).annotate(
  named("Runbook", "A page for those who see an incident of a check. The first rule that matches counts."),
)
export type Runbook = typeof Runbook.Type

export type FoundRunbook = Pick<Runbook, "url" | "note">

/** A policy as people write it: who is notified of what and when, and what must report how often. */
export const PolicyDocument = Schema.Struct({
  receivers: Schema.optionalKey(Schema.Record(NotifierName, Receiver)),
  rotas: Schema.optionalKey(Schema.Record(NotifierName, Rota)),
  routes: Schema.optionalKey(Schema.Array(Route)),
  dependencies: Schema.optionalKey(Schema.Array(Dependency)),
  windows: Schema.optionalKey(Schema.Array(Window)),
  freshness: Schema.optionalKey(Schema.Array(Freshness)),
  runbooks: Schema.optionalKey(Schema.Array(Runbook)),
  watches: Schema.optionalKey(
    Schema.Array(PolicyWatch).check(
      Schema.isMaxLength(MOST_WATCHES, { expected: `at most ${MOST_WATCHES} watches` }),
    ),
  ),
}).annotate({
  identifier: "Policy",
  title: "Tocsin policy",
  description: "Who is notified of what, and when.",
})
export type PolicyDocument = typeof PolicyDocument.Type

/** Whether a policy states nothing, as without a policy file. */
export const isEmptyPolicy = (document: PolicyDocument): boolean => Object.keys(document).length === 0
