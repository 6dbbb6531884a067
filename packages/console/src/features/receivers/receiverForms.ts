import { type ReceiverType, receiverTypes, type TypeKeys } from "@tocsin/contract/receivers/ReceiverTypes"
import type { FormField, Texts } from "../../view/FormField.ts"
import { MAIL_PARTS, mailAddress, mailFields } from "./mailFields.ts"
import { quietFields, quietOf } from "./quietHours.ts"

/** A type of receiver as its form asks for it: a row of the table, or a kind that needs no type. */
export interface FormType extends Pick<TypeKeys, "needs" | "takes"> {
  readonly kind: TypeKeys["kind"] | "webhook" | "debug"
  readonly type?: ReceiverType
}

const typed = (type: ReceiverType): FormType => ({ ...receiverTypes[type], type })

/** The types by their names, as people know the services. */
export const FORM_TYPES: Readonly<Record<string, FormType>> = {
  "A browser: it rings": typed("browser"),
  Alertmanager: { kind: "alert_router", needs: ["url_"], takes: [] },
  "Apprise: a hundred services": typed("apprise"),
  Discord: typed("discord"),
  "E-mail": typed("email"),
  "Google Chat": typed("google_chat"),
  Gotify: typed("gotify"),
  Matrix: typed("matrix"),
  Mattermost: typed("mattermost"),
  "Microsoft Teams": typed("teams"),
  "ntfy: a phone": typed("ntfy"),
  Opsgenie: typed("opsgenie"),
  PagerDuty: typed("pagerduty"),
  Pushover: typed("pushover"),
  "Rocket.Chat": typed("rocket_chat"),
  Signal: typed("signal"),
  "Slack, or a chat like it": { kind: "messenger", needs: ["url_"], takes: [] },
  "SMS: messages to a phone": typed("sms"),
  Telegram: { kind: "messenger", needs: ["telegram_token_", "telegram_chat"], takes: [] },
  "Telephone: it rings": typed("call"),
  "The server's log": { kind: "debug", needs: [], takes: [] },
  Webhook: { kind: "webhook", needs: ["url_", "secret_"], takes: [] },
  Zulip: typed("zulip"),
}
export const FIRST_TYPE = "E-mail"

export type Entry = Readonly<Record<string, unknown>>

export const typeNameOf = (entry: Entry): string =>
  Object.entries(FORM_TYPES).find(
    ([, { kind, needs, type }]) =>
      entry["kind"] === kind &&
      entry["type"] === type &&
      (type !== undefined || needs.includes("telegram_chat") === Object.hasOwn(entry, "telegram_chat")),
  )?.[0] ?? String(entry["kind"])

/** A name for a new receiver of a type, which no other one has. */
export const nameFor = ({ kind, type }: FormType, others: Readonly<Record<string, unknown>>): string => {
  const name = type ?? (kind === "messenger" ? "chat" : kind === "debug" ? "log" : kind)
  let free: string = name
  for (let count = 2; Object.hasOwn(others, free); count++) free = `${name}_${count}`
  return free
}

interface Property {
  readonly type?: string
  readonly enum?: ReadonlyArray<string>
  readonly description?: string
  readonly anyOf?: ReadonlyArray<unknown>
}
export type Properties = Readonly<Record<string, Property>>

/** The keys of receivers of a kind, of the schema of policies. */
export const propertiesOf = (schema: unknown, kind: string): Properties => {
  const { patternProperties } = Object(Object(Object(schema).properties).receivers)
  const [{ anyOf = [] } = {}] = Object.values(Object(patternProperties)).map(Object)
  // The server's schema is a JSON Schema; a test reads it by this function.
  return (
    anyOf
      .map(Object)
      .map(({ properties }: { readonly properties: Properties }) => properties)
      .find((each: Properties) => each["kind"]?.enum?.[0] === kind) ?? {}
  )
}

const isSecret = (key: string): boolean => key.endsWith("_")
const bare = (key: string): string => key.replace(/_$/, "")
const keysOf = ({ needs, takes }: FormType): ReadonlyArray<string> => [...needs, ...takes]
const secretsOf = (form: FormType): ReadonlyArray<string> => keysOf(form).filter(isSecret).map(bare)

const OF_TYPES = new Set(Object.values(FORM_TYPES).flatMap(keysOf).map(bare))

/** The sender if none is given: mail servers take mail from the user that signs in. */
const senderIn = ({ "url.user": user = "" }: Texts): string => (user.includes("@") ? user : "")

/** Values to begin with, by the type and the key. */
const EXAMPLES: Readonly<Record<string, Readonly<Record<string, NonNullable<FormField["example"]>>>>> = {
  email: {
    from: (texts) => senderIn(texts) || "tocsin@example.org",
    to: "you@example.org",
    cc: "boss@example.org",
  },
  call: { account: "AC0123", from: "+4930123456", to: "+4915112345678", user: "SK0123", language: "en-GB" },
  sms: { account: "AC0123", from: "+4930123456", to: "+4915112345678", user: "SK0123" },
  signal: { url: "http://signal.example.org:8080", from: "+4930123456", to: "+4915112345678" },
  apprise: { url: "https://apprise.example.org/notify/KEY", tag: "ops" },
  browser: { operator: "ann" },
  ntfy: { url: "https://ntfy.sh/TOPIC" },
  discord: { url: "https://discord.com/api/webhooks/ID/TOKEN" },
  teams: { url: "https://example.logic.azure.com/workflows/ID" },
  google_chat: { url: "https://chat.googleapis.com/v1/spaces/ID/messages?key=KEY" },
  mattermost: { url: "https://chat.example.org/hooks/KEY" },
  rocket_chat: { url: "https://chat.example.org/hooks/ID/TOKEN" },
  zulip: { url: "https://example.zulipchat.com", user: "bot@example.org", stream: "ops", topic: "alerts" },
  matrix: { url: "https://matrix.example.org", room: "!id:example.org" },
  gotify: { url: "https://gotify.example.org" },
  pagerduty: { url: "https://events.eu.pagerduty.com" },
  opsgenie: { url: "https://api.eu.opsgenie.com" },
  messenger: { url: "https://hooks.slack.com/services/T000/B000/KEY", telegram_chat: "@ops" },
  webhook: { url: "https://example.org/hook", secret: "shared with the receiver" },
  alert_router: { url: "http://alertmanager.example.org:9093" },
}

const LABELS: Readonly<Record<string, string>> = {
  url: "Address",
  cc: "Copies to",
  tls: "TLS",
  acknowledge: "Acknowledge link",
  tz: "Zone of times in messages",
  lang: "Language of its words",
}
const labelOf = (key: string): string => {
  const words = key.replaceAll("_", " ")
  return LABELS[key] ?? `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`
}

/** A default stands in the choice. */
const hintOf = ({ description }: Property = {}): string | undefined =>
  description
    ?.replace(/^A file that holds (.)/, (_, letter: string) => letter.toUpperCase())
    .replace(/; true by default.*/, ".")

const choices = (
  { description = "", enum: values, type }: Property,
  receiver: FormType["type"],
): FormField["options"] => {
  const isTrue = (receiver === "call" ? /true by default\.$/ : /true by default/).test(description)
  return type === "boolean"
    ? [
        ["", `${isTrue ? "yes" : "no"}, by default`],
        ["true", "yes"],
        ["false", "no"],
      ]
    : values && [["", "by default"], ...values.map((value) => [value] as const)]
}

const textOf = (value: unknown): string =>
  value === undefined ? "" : Array.isArray(value) ? value.join(", ") : String(value)

interface FieldsOf {
  readonly form: FormType
  readonly properties: Properties
  readonly former: Entry | undefined
  /** Whether secrets stay outside, as for a policy that a file decides. */
  readonly isFixed: boolean
}
type Fields = Readonly<Record<string, FormField>>

/** How the service begins its refusals of a key; those of a secret name the setting that it gives. */
const refusalsOf = (name: string): RegExp => {
  if (name === "tls") return /(?:\.tls|STARTTLS)\b/
  const [, service = "", setting = name] = /^(.+_)(.+)$/.exec(name) ?? []
  return new RegExp(
    `receivers\\.\\w+\\.(?:${name}|secrets .*of which (?:${service})?${setting}s?)\\b(?:\\[\\d+\\])?`,
  )
}

/** The fields of a secret, which begin empty. */
const secretFields = (name: string, { form: { kind, type }, former, properties }: FieldsOf): Fields => {
  const example = former === undefined ? EXAMPLES[type ?? kind]?.[name] : "unchanged"
  if (type === "email") return mailFields(former, refusalsOf("url"))
  const hint = hintOf(properties[`${name}_file`])
  const field = { label: labelOf(name), type: "password", hint, refusedAs: refusalsOf(name) } as const
  return { [name]: { ...field, ...(example && { example }) } }
}

const plainField = (name: string, { form: { kind, type }, former, properties }: FieldsOf): Fields => {
  const property = properties[name] ?? {}
  const example = EXAMPLES[type ?? kind]?.[name]
  const field = {
    label: labelOf(name),
    hint: hintOf(property),
    options: choices(property, type),
    refusedAs: refusalsOf(name),
  }
  const number = property.type === "integer" ? ({ type: "number" } as const) : {}
  return { [name]: { ...field, ...number, initial: textOf(former?.[name]), ...(example && { example }) } }
}

const rare = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, { ...field, isRare: true }]))

/** The fields of a type's form: the keys of the table, then those that every receiver of its kind takes. */
export const fieldsOf = (parts: FieldsOf): Fields => {
  const { form, former, isFixed, properties } = parts
  const secrets = form.type === "email" ? Object.keys(MAIL_PARTS) : secretsOf(form)
  const fieldsFor = (key: string): Fields =>
    isSecret(key) ? (isFixed ? {} : secretFields(bare(key), parts)) : plainField(key, parts)
  const isMail = form.type === "email"
  /** Of a receiver that has secrets, all are written or none. A mail server may be shared. */
  const needed = (key: string): Fields => {
    const isNeeded = (texts: Texts): boolean => {
      if (isSecret(key))
        return (
          (former === undefined && !isMail) ||
          secrets.some((name) => texts[name] && (former !== undefined || name !== "url.port"))
        )
      if (!isMail || key !== "from") return true
      return senderIn(texts) === "" && (former === undefined ? texts["url.host"] !== "" : "from" in former)
    }
    return Object.fromEntries(
      Object.entries(fieldsFor(key)).map(([name, field]) => [
        name,
        /^url\.(?:user|password|port)$/.test(name) ? field : { ...field, isNeeded },
      ]),
    )
  }
  const common = Object.keys(properties).filter((name) => {
    const { type = "object" } = properties[name] ?? {}
    return type !== "object" && !OF_TYPES.has(name) && !/^(?:kind|type|secrets)$|_(?:file|env)$/.test(name)
  })
  return Object.assign(
    {},
    ...form.needs.map(needed),
    ...form.takes.map((key) => rare(fieldsFor(key))),
    rare(properties["quiet"] === undefined ? {} : quietFields(former)),
    ...common.map((name) => rare(plainField(name, parts))),
  )
}

const valueOf = (property: Property, text: string, isList: boolean): unknown => {
  if (property.type === "boolean") return text === "true"
  if (property.type === "integer") return Number(text)
  return isList ? text.split(/[,\s]+/).filter((part) => part !== "") : text
}

/** The entry that a form states. Keys without a field, such as digests, stay, and so do values whose texts are unchanged. */
export const entryOf = (
  { form, former = {}, hasValues, properties }: Omit<FieldsOf, "isFixed"> & { readonly hasValues: boolean },
  texts: Texts,
): Entry => {
  const { kind, type } = form
  const secrets = secretsOf(form)
  // Secrets that the service keeps take the place of those that files and variables hold.
  const replaced = hasValues ? secrets.flatMap((name) => [`${name}_file`, `${name}_env`]) : []
  const kept = Object.entries(former).filter(
    ([name]) =>
      !Object.hasOwn(texts, name) &&
      !replaced.includes(name) &&
      (name !== "quiet" || !Object.hasOwn(texts, "quiet.hours")),
  )
  const from = type === "email" && texts["from"] === "" ? { from: senderIn(texts) } : {}
  const given = Object.entries({ ...texts, ...from }).flatMap(([name, text]) => {
    if (text === "" || name.startsWith("quiet.") || secrets.includes(name.replace(/\..*/, ""))) return []
    if (former[name] !== undefined && textOf(former[name]) === text) return [[name, former[name]] as const]
    const property = properties[name] ?? {}
    const isList = property.type === "array" || (name === "to" && type === "email")
    return [[name, valueOf(property, text, isList)] as const]
  })
  return {
    kind,
    ...(type !== undefined && { type }),
    ...Object.fromEntries([...kept, ...given]),
    ...quietOf(former, texts),
  }
}

/** Files for the secrets of a receiver, as containers have them. */
export const placesOf = (form: FormType, receiver: string): Texts =>
  Object.fromEntries(
    form.needs.filter(isSecret).map((key) => [`${key}file`, `/run/secrets/${receiver}-${bare(key)}`]),
  )

/** The secrets that a form has; empty where it has none, which keeps those that are stored. */
export const valuesOf = (form: FormType, texts: Texts): Texts =>
  Object.fromEntries(
    secretsOf(form).flatMap((name) => {
      const text = (form.type === "email" ? mailAddress(texts) : texts[name]) ?? ""
      return text === "" ? [] : [[name, text]]
    }),
  )

/** Advice about a key of the policy, where a field of this form is meant. */
export const inWordsOfForm = (text: string): string =>
  text.replace(
    /(remove )?tls: off( \(.*?\))?/,
    (_, isRemoved) => `choose TLS: ${isRemoved ? "required" : "off"}`,
  )
