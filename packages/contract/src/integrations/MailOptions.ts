import { Schema } from "effect"
import { boundedText, closedRecord, closedStruct, fromOneTo, named, optional } from "../formats/Fields.ts"
import { ExpectedCheck } from "../overdue/Expectations.ts"

/** Rules that an integration of kind mail has at most. */
export const MOST_RULES = 50
const MOST_GLOBS = 32
const LONGEST_GLOB = 256

const glob = boundedText(LONGEST_GLOB, `a glob of 1 to ${LONGEST_GLOB} characters`)
const globs = Schema.Array(glob).check(...fromOneTo(MOST_GLOBS, `a list of 1 to ${MOST_GLOBS} globs`))

/** A glob, or several of which one fits. `*` is any run, `?` one character; case does not matter. */
const oneOrMore = Schema.Union([glob, globs])

/** Globs of whole subjects. */
export const subjectGlobs = oneOrMore

const FIELD_RULE = { expected: "the name of a header field" }
const fieldName = Schema.String.check(Schema.isPattern(/^[!-9;-~]{1,64}$/u, FIELD_RULE))

const MailMatch = closedStruct({
  subject: Schema.optionalKey(oneOrMore),
  body: optional(oneOrMore, "A line of the text, trimmed: the first that fits counts."),
  from: optional(oneOrMore, "The address of the sender."),
  header: optional(
    closedRecord(fieldName, oneOrMore),
    "Header fields by their names. An absent one never fits.",
  ),
}).annotate(named("MailMatch", "What a mail has to have: all of it."))

/** The meaning of the mails that match (docs/rules.md#mail). */
export const MailRule = closedStruct({
  match: MailMatch,
  check: optional(
    boundedText(LONGEST_GLOB, "a name of 1 to 256 characters"),
    "The name of the check: $1 to $9 are what the stars took, of subject, body, from and headers in this order.",
  ),
  status: optional(
    Schema.Literals(["ok", "warning", "critical", "unknown", "ignore"]),
    "The status; ignore for no result.",
  ),
}).annotate(named("MailRule", "What the mails that match mean."))
export type MailRule = typeof MailRule.Type

/** The status of a mail whose subject has no words of one. */
export const MailStatus = Schema.Literals(["ok", "warning", "critical", "unknown"])

const text = Schema.optionalKey(Schema.String)
const { fields } = ExpectedCheck

/** When checks must be mailed about, stored as it was written. */
export const MailExpected = closedStruct({
  every: text,
  after: text,
  cron: text,
  tz: text,
  grace: text,
  severity: fields.severity,
  incident: fields.incident,
}).annotate(named("MailExpected", "When each check must be mailed about, as agents declare it."))
