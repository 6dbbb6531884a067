import { Schema } from "effect"
import { Language } from "../languages/Language.ts"
import { ExpectedIncident } from "../overdue/Expectations.ts"
import { named, optional } from "../formats/Fields.ts"
import { DurationText } from "../formats/DurationText.ts"
import { NotifierName, Severity } from "../formats/Status.ts"
import { isPlainText } from "../formats/Text.ts"
import { Mail, Receiver } from "../receivers/Receiver.ts"
import {
  cron,
  once,
  days,
  hours,
  match,
  receiversTogether,
  text,
  TOGETHER_RULE,
  tz,
  whole,
} from "../labels/policyFields.ts"
import { MOST_PAGES, PageName, PublicPage } from "../publicPages/PublicPages.ts"
import { MOST_WATCHES, PolicyWatch } from "../watches/Watches.ts"
import { MAX_MATCHERS, MatcherField } from "../labels/Matcher.ts"

const MINUTE = "1 minute"
const WEEK = "7 days"
const MONTH = "31 days"

const ofPolicy = optional(tz, "An IANA time zone; that of the policy by default.")

const turn = Schema.Union([NotifierName, receiversTogether]).annotate({
  expected: `a receiver, or ${TOGETHER_RULE.expected}`,
})
const ORDER_RULE = { expected: "a list of 1 to 50 turns, each a receiver or a list of receivers" }

/** Who is on call, by turns of a clock (docs/rules.md#on-call). */
export const Rota = Schema.Struct({
  tz: ofPolicy,
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
  otherwise: optional(turn, "Who is on call outside the hours: receivers, or another rota."),
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
  remind: Schema.optionalKey(DurationText({ min: "5 minutes", max: MONTH })),
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

/** A maintenance window by the clock of a time zone: one that returns, or one that comes once. */
export const Window = Schema.Struct({
  name: Schema.String.check(
    Schema.isPattern(/^[a-z0-9][a-z0-9._-]{0,62}$/u, {
      expected: "1 to 63 lower-case letters, digits or . _ -",
    }),
  ),
  cron: Schema.optionalKey(cron),
  at: Schema.optionalKey(once),
  tz: ofPolicy,
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
  tz: ofPolicy,
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
  note: optional(Schema.String.check(isPlainText({ min: 1, max: 200 })), "Its title."),
}).annotate(
  named("Runbook", "A page for those who see an incident of a check. The first rule that matches counts."),
)
export type Runbook = typeof Runbook.Type

export type FoundRunbook = Pick<Runbook, "url" | "note">

/** A policy as people write it: who is notified of what and when, and what must report how often. */
export const PolicyDocument = Schema.Struct({
  tz: optional(tz, "The time zone where a part or a reader has none; UTC by default."),
  lang: optional(Language, "The language of pages and messages that state none; en by default."),
  mail: Schema.optionalKey(Mail),
  receivers: Schema.optionalKey(Schema.Record(NotifierName, Receiver)),
  rotas: Schema.optionalKey(Schema.Record(NotifierName, Rota)),
  routes: Schema.optionalKey(Schema.Array(Route)),
  again_after: Schema.optionalKey(
    DurationText({ min: 0, max: "1 day" }).annotate({
      description: "How long an incident is milder before it forgets a severity; 10m by default.",
    }),
  ),
  dependencies: Schema.optionalKey(Schema.Array(Dependency)),
  windows: Schema.optionalKey(Schema.Array(Window)),
  freshness: Schema.optionalKey(Schema.Array(Freshness)),
  runbooks: Schema.optionalKey(Schema.Array(Runbook)),
  watches: Schema.optionalKey(
    Schema.Array(PolicyWatch).check(
      Schema.isMaxLength(MOST_WATCHES, { expected: `at most ${MOST_WATCHES} watches` }),
    ),
  ),
  pages: Schema.optionalKey(
    Schema.Record(PageName, PublicPage).check(
      Schema.isMaxProperties(MOST_PAGES, { expected: `at most ${MOST_PAGES} pages` }),
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
