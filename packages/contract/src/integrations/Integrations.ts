import { Schema } from "effect"
import { boundedMillis, durationExpected } from "../formats/durationMillis.ts"
import { ExpectedIncident } from "../overdue/Expectations.ts"
import {
  boundedText,
  closedRecord,
  closedStruct,
  described,
  fromOneTo,
  named,
  NonNegativeInteger,
  optional,
  timestamp,
} from "../formats/Fields.ts"
import { CheckId, isNameUpTo } from "../formats/Identifiers.ts"
import { InstantFromString } from "../formats/Instant.ts"
import { MailExpected, MailRule, MailStatus, MOST_RULES, subjectGlobs } from "./MailOptions.ts"
import { changedTitle, ShownTitle, Title } from "../titles/Titles.ts"
import { integrationKindNames } from "./integrationKinds.ts"

/** Names an integration, and the agent that has its checks (docs/rules.md#integrations). */
export const IntegrationName = Schema.String.check(
  isNameUpTo(64).annotate(
    named("IntegrationName", "Names an integration, and the agent that has its checks."),
  ),
).pipe(Schema.brand("AgentId"))
export type IntegrationName = typeof IntegrationName.Type

/** The protocol of each kind of sender (docs/rules.md#integrations). */
export const IntegrationKind = Schema.Literals(integrationKindNames).annotate(
  named("IntegrationKind", "The protocol of its senders."),
)
export type IntegrationKind = typeof IntegrationKind.Type

const MOST_CHECKS = 10_000

const MOST_WORDS = 32
const word = boundedText(256, "a text of 1 to 256 characters")
const words = Schema.Array(word).check(
  Schema.isMaxLength(MOST_WORDS, { expected: `a list of at most ${MOST_WORDS} texts` }),
)

/** A duration that is stored as it was written. */
const duration = (min: number, max: number) =>
  Schema.String.check(
    Schema.makeFilter<string>((text) => boundedMillis(text, { min, max }) !== undefined, {
      expected: durationExpected({ min, max }),
    }),
  )

const SECONDS = 1_000
const DAYS = 86_400 * SECONDS

const POINTER_RULE = { expected: "a JSON Pointer such as /monitor/name" }
const pointer = Schema.String.check(
  Schema.isPattern(/^(?:\/(?:[^~/]|~[01])*)+$/u, POINTER_RULE),
  Schema.isMaxLength(256, POINTER_RULE),
)

const values = Schema.optionalKey(words)

/** The senders' severities; a value in no list, or none, is critical. */
const SeverityOption = closedStruct({
  label: Schema.optionalKey(word),
  critical: values,
  warning: values,
  ignore: values,
}).annotate({
  identifier: "IntegrationSeverity",
  description: "By a label: severity; critical, page, error; warning; info, none unless given.",
})

const ignorable = Schema.optionalKey(Schema.Literals(["critical", "warning", "unknown", "ignore"]))

/** The status of each severity of PagerDuty. */
const PagedSeverityOption = closedStruct({
  critical: ignorable,
  error: ignorable,
  warning: ignorable,
  info: ignorable,
}).annotate({
  identifier: "IntegrationPagedSeverity",
  description:
    "Of pagerduty, the status of each severity: critical and error are critical, the others warning unless given.",
})

const MOST_PLACES = 5
const labelName = boundedText(64, "a name of 1 to 64 characters")

const MapOption = closedStruct({
  list: optional(
    Schema.Union([Schema.Literal(""), pointer]),
    "The list whose items are results, in which the other places are: empty for the body itself, also one item a line.",
  ),
  check: Schema.Union([pointer, Schema.Array(pointer).check(...fromOneTo(MOST_PLACES))]).annotateKey({
    description: "Its name, or at most 5 places whose texts are its name together.",
  }),
  status: pointer,
  output: Schema.optionalKey(pointer),
  labels: optional(closedRecord(labelName, pointer), "The places of its labels by their names."),
}).annotate(named("IntegrationMap", "Where a body states a result, or each of a list."))

const ValuesOption = closedStruct({
  ok: values,
  warning: values,
  critical: values,
  unknown: values,
  ignore: values,
  default: optional(
    Schema.Literals(["critical", "warning", "unknown", "ignore"]),
    "What another value means, and none: refused unless given.",
  ),
}).annotate(
  named("IntegrationValues", "Values by status: its name unless given. Those of ignore are no results."),
)

const MOST_NUMBERS = 20

/** A shell and a crontab read none of these characters as something else. */
const SCHEDULE = /^(?:every|after|cron|tz|grace|severity|incident)=[\w+*/,.:-]+(?:&[a-z]+=[\w+*/,.:-]+)*$/u
const SCHEDULE_RULE = { expected: "a query such as every=1d&after=26h" }

/** An integration's kind as it is shown: the service itself reports the results of its watches. */
export const ShownKind = Schema.Literals([...IntegrationKind.literals, "watch"]).annotate(
  named("ShownIntegrationKind", "The protocol of its senders; watch for the results of watches."),
)
export type ShownKind = typeof ShownKind.Type

export const IntegrationOptions = closedStruct({
  check: optional(CheckId, "Its only check, which the URL of the key then means."),
  methods: optional(
    Schema.Array(Schema.Literals(["GET", "HEAD", "POST"])).check(Schema.isMinLength(1)),
    "The methods that report: all unless given. POST alone refuses previews of links, which open URLs.",
  ),
  schedule: optional(
    Schema.String.check(Schema.isPattern(SCHEDULE, SCHEDULE_RULE), Schema.isMaxLength(256, SCHEDULE_RULE)),
    "When its job runs, as the query of its address: a line to paste has it, also after a rotation.",
  ),
  create: optional(Schema.Boolean, "Whether a report for an unknown check creates it: true unless given."),
  max_checks: optional(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: MOST_CHECKS })),
    "The most checks: 1000 for ping, push and sentry, else 10000 unless given.",
  ),
  numbers: optional(
    Schema.Array(word).check(
      ...fromOneTo(MOST_NUMBERS, `a list of 1 to ${MOST_NUMBERS} patterns such as eth0_*`),
    ),
    "Which labels of performance data are kept, by patterns such as eth0_*: all unless given, of which a check keeps 20.",
  ),
  severity: Schema.optionalKey(Schema.Union([SeverityOption, PagedSeverityOption])),
  group_by: optional(words, "Alerts with equal values of these labels share an incident."),
  resend: optional(duration(15 * SECONDS, DAYS), "How often a source is heard: 5m unless given."),
  lapse: optional(
    Schema.Literals(["resolve", "never"]),
    "Whether an alert ends that a source no longer sends: resolve unless given.",
  ),
  lapse_after: optional(
    duration(60 * SECONDS, 93 * DAYS),
    "When an alert ends of which its sender says nothing more, where senders report changes alone: never unless given.",
  ),
  repeats: optional(Schema.Boolean, "Whether senders repeat alerts: true unless given."),
  watchdog: optional(word, "An alert that always fires."),
  incident: optional(
    ExpectedIncident,
    "Whether each late check has its own incident, or all share one, where a check does not say: own for ping, push and sentry, else agent unless given.",
  ),
  forget_after: optional(
    duration(60 * SECONDS, 93 * DAYS),
    "When a check that is ok and not reported is deleted: 24h unless given.",
  ),
  acknowledged_for: optional(
    duration(0, 7 * DAYS),
    "How long a sender's acknowledgement lasts: 1h unless given; 0s ignores them.",
  ),
  heartbeat_after: optional(
    duration(60 * SECONDS, 93 * DAYS),
    "When a heartbeat that does not say how often it comes is late: 10m unless given.",
  ),
  map: Schema.optionalKey(MapOption),
  values: Schema.optionalKey(ValuesOption),
  rules: optional(
    Schema.Array(MailRule).check(
      Schema.isMaxLength(MOST_RULES, { expected: `a list of at most ${MOST_RULES} rules` }),
    ),
    "Of mail: what some mails mean. The first that matches counts.",
  ),
  failed: optional(subjectGlobs, "Of mail: subjects that report a failure, in place of the usual words."),
  recovered: optional(subjectGlobs, "Of mail: subjects that report a recovery, in place of the usual words."),
  status: optional(MailStatus, "Of mail: what a subject without such words means: critical unless given."),
  expect: optional(MailExpected, "Of mail: when each check must be mailed about, but those by subject."),
  resolve_after: optional(
    duration(3_600 * SECONDS, 93 * DAYS),
    "Of mail: how long after its last mail a check that is not ok becomes ok: never unless given.",
  ),
}).annotate(named("IntegrationOptions", "How to read what its senders report."))
/** The options and, with a point between, the parts of those that have some. */
export const optionParts: ReadonlyArray<string> = [
  ...Object.keys(IntegrationOptions.fields),
  ...Object.entries({
    severity: { ...SeverityOption.fields, ...PagedSeverityOption.fields },
    map: MapOption.fields,
    values: ValuesOption.fields,
    expect: MailExpected.fields,
  } satisfies Partial<Record<keyof typeof IntegrationOptions.fields, object>>).flatMap(([option, parts]) =>
    Object.keys(parts).map((part) => `${option}.${part}`),
  ),
]

type SeverityOptions = NonNullable<typeof IntegrationOptions.Type.severity>
/** Whether the option has the form of alerts: values of a label. */
export const isSeverityOfLabel = (given: SeverityOptions): given is typeof SeverityOption.Type =>
  Object.entries(given).every(([name, value]) => name === "label" || typeof value !== "string")
/** Whether the option has the form of `pagerduty`: a status for each severity. */
export const isPagedSeverity = (given: SeverityOptions): given is typeof PagedSeverityOption.Type =>
  Object.entries(given).every(([name, value]) => name !== "label" && typeof value === "string")
export type IntegrationOptions = typeof IntegrationOptions.Type

export const CreateIntegrationRequest = closedStruct({
  name: optional(IntegrationName, "Made of the title unless given."),
  title: optional(Title, "What people call it, its agent, and the check that the option check names."),
  kind: IntegrationKind,
  options: Schema.optionalKey(IntegrationOptions),
}).annotate(named("CreateIntegrationRequest", "A new integration."))
export type CreateIntegrationRequest = typeof CreateIntegrationRequest.Type

export const ChangeIntegrationRequest = closedStruct({
  title: changedTitle,
  options: optional(IntegrationOptions, "All options, as they are to be."),
}).annotate(named("ChangeIntegrationRequest", "What is to change: at least one field."))
export type ChangeIntegrationRequest = typeof ChangeIntegrationRequest.Type

const Source = Schema.Struct({
  source: described(Schema.String, "Its address; empty for alerts without one."),
  heard_at: timestamp("When it last sent an alert, to 5 s."),
}).annotate(named("IntegrationSource", "A sender of alerts."))

const Refusal = Schema.Struct({
  at: InstantFromString,
  message: Schema.String.annotateKey({ description: "What its sender was answered." }),
}).annotate(named("IntegrationRefusal", "A request that was refused."))

export const Integration = Schema.Struct({
  name: IntegrationName,
  title: ShownTitle,
  kind: ShownKind,
  options: IntegrationOptions,
  created_at: InstantFromString,
  created_by: Schema.String.annotateKey({ description: "The operator who created it." }),
  is_closed: Schema.Boolean.annotateKey({
    description: "Whether its key was blocked. A rotation makes a new key and opens it.",
  }),
  last_request_at: Schema.NullOr(InstantFromString).annotateKey({
    description: "When it last took a report, to 15 s; null before the first.",
  }),
  last_refusal: Schema.NullOr(Refusal).annotateKey({ description: "The last refused request, to 15 s." }),
  sources: described(Schema.Array(Source), "At most 100, the last heard first."),
  checks: NonNegativeInteger.annotateKey({ description: "Checks that it has." }),
  max_checks: NonNegativeInteger.annotateKey({ description: "The most that it may have." }),
  overdue: NonNegativeInteger.annotateKey({ description: "Checks that are late. At most 500." }),
  awaited_watchdog: Schema.NullOr(Schema.String).annotateKey({
    description: "The alert that always fires, until its first report: it is not missed before.",
  }),
}).annotate(named("Integration", "Reports of senders that do not speak this API."))
export type Integration = typeof Integration.Type

export const IntegrationWithKey = Schema.Struct({
  ...Integration.fields,
  key: Schema.String.annotateKey({ description: "The new key. It is not shown again." }),
  urls: Schema.Array(Schema.String).annotateKey({
    description:
      "Addresses to paste into a sender; paths below this server's where no public address is set.",
  }),
}).annotate(named("IntegrationWithKey", "An integration with its new key."))
export type IntegrationWithKey = typeof IntegrationWithKey.Type

export const IntegrationPath = Schema.Struct({
  name: IntegrationName.annotateKey({ description: "The name of an integration." }),
})

/** Its columns as CSV: see `csvText`. */
export const integrationColumns =
  "name kind options created_at created_by is_closed last_request_at last_refusal sources checks max_checks overdue awaited_watchdog title"
