import { Schema } from "effect"
import { DurationText } from "../formats/DurationText.ts"
import {
  booleanOr,
  boundedText,
  closedStruct,
  named,
  NonNegativeInteger,
  optional,
  timestamp,
} from "../formats/Fields.ts"
import { CheckId } from "../formats/Identifiers.ts"
import { CheckLabels } from "../labels/Labels.ts"
import { Severity } from "../formats/Status.ts"

const text = boundedText(256)

/** Its incident while a check is late: AGENT_ID/CHECK_ID/@overdue, or AGENT_ID/@overdue. */
export const ExpectedIncident = Schema.Literals(["own", "agent"])
export type ExpectedIncident = typeof ExpectedIncident.Type

/** A check that must report, has labels, or both, as its agent declares it (docs/rules.md#expectations). */
export const ExpectedCheck = closedStruct({
  check_id: CheckId,
  every: optional(
    DurationText({ min: "10 seconds", max: "31 days" }),
    "The longest usual time between two results; or give cron and tz.",
  ),
  after: optional(
    DurationText({ min: "1 second", max: "93 days" }),
    "How long without a result makes the check late: three times every unless given, and at least the stale threshold and 30 s.",
  ),
  cron: optional(text, "When it reports: minute, hour, day, month, weekday."),
  tz: optional(text, "The IANA time zone of cron, such as Europe/Berlin."),
  grace: optional(
    DurationText({ min: "1 second", max: "7 days" }),
    "How long after an occurrence of cron the check is late: 1h unless given.",
  ),
  severity: optional(
    Severity,
    "The severity while it is late: unless given, critical with cron and for pings and pushes, else unknown.",
  ),
  incident: optional(
    ExpectedIncident,
    "Whether it has its own incident while it is late, or joins that of its agent's late checks: own with cron unless given, and for pings and pushes; else agent.",
  ),
  notifications_enabled: booleanOr(true, "When false, no notification is enqueued for a late check."),
  labels: optional(
    CheckLabels,
    "Names and values that matchers compare; without every and cron, the check need not report.",
  ),
}).annotate(named("ExpectedCheck", "A check that must report, has labels, or both."))
export type ExpectedCheck = typeof ExpectedCheck.Type

export const MAX_EXPECTATIONS = 1_000
export const DECLARATION_SIZE_RULE = `must contain at most ${MAX_EXPECTATIONS} checks`

export const ExpectationsRequest = closedStruct({
  checks: Schema.Array(ExpectedCheck).check(
    Schema.isMaxLength(MAX_EXPECTATIONS, {
      message: DECLARATION_SIZE_RULE,
      description: "Checks that must report; no check twice.",
    }),
  ),
  complete: booleanOr(false, "Whether checks that are not listed are no longer expected."),
  as_of: Schema.optionalKey(
    timestamp(
      "When this was the list of all checks of the agent; only with complete. Two minutes later, a check that an earlier list had and this one lacks is withdrawn.",
    ),
  ),
}).annotate(named("ExpectationsRequest", "Checks of one agent that must report."))
export type ExpectationsRequest = typeof ExpectationsRequest.Type

export const ExpectationsResponse = Schema.Struct({
  expected: NonNegativeInteger.annotate({ description: "Checks that are expected of the agent now." }),
  withdrawn: NonNegativeInteger.annotate({ description: "Checks that this request withdrew." }),
  labels_kept: optional(
    NonNegativeInteger,
    "Checks that keep their labels, which changed within the last minute; absent without any. Declare them again after it.",
  ),
  warnings: optional(
    Schema.Array(Schema.String),
    "Valid schedules that other crons or most people read otherwise, at most ten; absent without any.",
  ),
}).annotate(named("ExpectationsResponse", "The declaration was applied."))
export type ExpectationsResponse = typeof ExpectationsResponse.Type
