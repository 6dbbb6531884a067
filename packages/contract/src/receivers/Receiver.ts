import { Schema } from "effect"
import { DurationText } from "../formats/DurationText.ts"
import { fromOneTo, named, optional } from "../formats/Fields.ts"
import { Language } from "../languages/Language.ts"
import { days, hours, text, tz, whole } from "../labels/policyFields.ts"
import {
  ACCOUNT_NAME,
  MAIL_ADDRESS,
  MAIL_SENDER,
  MAIL_SENDER_RULE,
  MOST_RECIPIENTS,
  PHONE_NUMBER,
  SENDER,
  typesOf,
} from "./ReceiverTypes.ts"
import { NotifierName } from "../formats/Status.ts"

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

const ADDRESSES = `1 to ${MOST_RECIPIENTS} addresses such as ops@example.org`
const addresses = Schema.Array(
  Schema.String.check(Schema.isPattern(MAIL_ADDRESS, { expected: ADDRESSES })),
).check(...fromOneTo(MOST_RECIPIENTS, ADDRESSES))

// Readers of the policy judge both by the type.
const FROM_EXPECTED =
  'an address such as Tocsin <tocsin@example.org>, or a number in quotes, such as "+4915112345678"'
const TO_RULE = {
  expected: `${ADDRESSES}, or a number in quotes, such as "+4915112345678"`,
}
const HOST_NAME =
  /^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$/
const PHONE_OR_YES = new RegExp(`^yes$|${PHONE_NUMBER.source}`)

const concurrency = optional(whole(1, 64), "Attempts at a time; 32 by default.")

export const Quiet = Schema.Struct({
  hours,
  tz: Schema.optionalKey(tz.annotate({ description: "That of the policy by default." })),
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

const shadow = optional(Schema.Boolean, "Whether everything is decided for it, and nothing is sent.")

const ofReader = optional(tz, "The zone of times in its messages; that of the policy by default.")

const resolved = optional(
  Schema.Boolean,
  "Whether it gets resolutions, and firings are retried after them; true by default, false for calls.",
)

const secrets = optional(NotifierName, "The name of stored secrets, which take the place of files.")

const details = optional(
  Schema.Boolean,
  "Whether its messages have details of the worst check, as its output; true by default.",
)

const receiver = <const Kind extends string, const Fields extends Schema.Struct.Fields>(
  kind: Kind,
  fields: Fields,
) =>
  Schema.Struct({
    kind: Schema.Literal(kind),
    ...fields,
    concurrency,
    quiet,
    acknowledge,
    shadow,
    tz: ofReader,
  })

const tls = optional(Schema.Literals(["required", "off"]), "required by default.")

/** The mail server of receivers of type `email` that state no address (docs/rules.md#mails). */
export const Mail = Schema.Struct({
  ...secret("url", "the address of the mail server"),
  secrets,
  from: formed(MAIL_SENDER, "The sender of receivers without one.", MAIL_SENDER_RULE),
  tls,
}).annotate(named("Mail", "The mail server of receivers of type email that state no address."))
export type Mail = typeof Mail.Type

/** Where notifications go. Addresses and secrets stay outside the file. */
export const Receiver = Schema.Union([
  receiver("webhook", {
    ...secret("url", "the URL"),
    ...secret("secret", "the signing secrets"),
    secrets,
    resolved,
    details,
  }),
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
    lang: optional(Language, "The language of its messages; that of the policy by default."),
    language: Schema.optionalKey(
      formed(
        /^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/,
        "The voice of calls; that of lang by default.",
        "a language such as en-US",
      ),
    ),
    tag: Schema.optionalKey(text("Which services of Apprise's key get the message.")),
    call: Schema.optionalKey(
      formed(
        PHONE_OR_YES,
        "A verified number that ntfy calls on critical; yes for the first one.",
        'yes, or a number in quotes, such as "+4915112345678"',
      ),
    ),
    emergency: optional(Schema.Boolean, "Whether Pushover repeats critical firings until one acknowledges."),
    operator: Schema.optionalKey(text("The operator whose browsers are notified.")),
    stream: Schema.optionalKey(text("The Zulip channel to write to.")),
    topic: Schema.optionalKey(text("The topic in it.")),
    room: Schema.optionalKey(text("The ID of a Matrix room.")),
    tls,
    reports: Schema.optionalKey(
      Schema.Literal("monthly").annotate({
        expected: "monthly",
        description: "Whether it gets the report of each month, on the first of the next one at 8:00.",
      }),
    ),
    hello: Schema.optionalKey(
      formed(
        HOST_NAME,
        "The name by which mail servers are greeted: the public address's host, else the domain of from, by default.",
        "a host name such as tocsin.example.org",
      ),
    ),
    ...secret("telegram_token", "a Telegram bot's token"),
    telegram_chat: Schema.optionalKey(text("The Telegram chat to write to.")),
    secrets,
    resolved,
    details,
    digest: Schema.optionalKey(
      Schema.Union([
        Schema.Struct({
          over: whole(1, 100).annotate({ description: "More due notifications become one message." }),
        }),
        Schema.Literal("off"),
      ]).annotate({
        expected: "off, or { over: 5 }",
        description: "When one message is about several; off: never. Absent, from the sixth of a minute on.",
      }),
    ),
  }),
  receiver("alert_router", {
    type: Schema.optionalKey(Schema.Literals(typesOf("alert_router"))),
    ...secret("url", "the base URL of an Alertmanager, or that of the type's service"),
    ...secret("routing_key", "PagerDuty's integration key"),
    ...secret("key", "Opsgenie's API key"),
    secrets,
  }),
  receiver("debug", {}),
]).annotate({ expected: "a receiver whose kind is webhook, messenger, alert_router or debug" })
export type Receiver = typeof Receiver.Type
