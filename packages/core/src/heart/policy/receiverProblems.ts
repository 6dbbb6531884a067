import { needsMailServer, withServer } from "@tocsin/contract/receivers/mailServer"
import type { Mail, Quiet, Receiver } from "@tocsin/contract/receivers/Receiver"
import {
  keyForms,
  MOST_RECIPIENTS,
  receiverTypes,
  type TypeKeys,
  untypedKeys,
} from "@tocsin/contract/receivers/ReceiverTypes"
import { NotifierKind } from "@tocsin/contract/formats/Status"
import { hoursProblems } from "./occurrences.ts"
import { zoneProblems } from "./Schedule.ts"
import { at, problem, problemIf, type Problems } from "./problemsAt.ts"

/** Exactly one of two ways to give a secret, and none where it is stored. */
const secretProblems = (receiver: object, name: string, isRequired: boolean): Problems => {
  const given = [`${name}_file`, `${name}_env`].filter((key) => Object.hasOwn(receiver, key))
  if (Object.hasOwn(receiver, "secrets")) return given.map((key) => problem(BESIDE_STORED, key))
  if (given.length > 1) return [problem(`must have ${name}_file or ${name}_env, not both`)]
  return problemIf(given.length === 0 && isRequired, `must have ${name}_file or ${name}_env`)
}

const BESIDE_STORED = "must be absent beside secrets, which names all secrets of the receiver"

export const isKind = (name: string): boolean => NotifierKind.literals.some((kind) => kind === name)

/** Keys of every receiver. */
const COMMON = [
  "kind",
  "concurrency",
  "digest",
  "quiet",
  "acknowledge",
  "shadow",
  "type",
  "resolved",
  "secrets",
  "details",
  "tz",
  "lang",
]

/** Missing keys of a type, and those that belong to another. */
const typeProblems = (
  receiver: Extract<Receiver, { readonly kind: "messenger" | "alert_router" }>,
): Problems => {
  const { type } = receiver
  const { needs, takes }: Pick<TypeKeys, "needs" | "takes"> =
    type === undefined ? { needs: [], takes: [] } : receiverTypes[type]
  const known = type === undefined ? untypedKeys[receiver.kind] : [...needs, ...takes]
  const keys = known.flatMap((key) => (key.endsWith("_") ? [`${key}file`, `${key}env`] : [key]))
  const { cc = [], to = [] } = receiver.kind === "messenger" ? receiver : {}
  return [
    ...[...needs, ...takes].flatMap((key, n) => {
      const isNeeded = n < needs.length
      if (key.endsWith("_")) return secretProblems(receiver, key.slice(0, -1), isNeeded)
      return problemIf(isNeeded && !Object.hasOwn(receiver, key), "is missing", key)
    }),
    ...Object.keys(receiver)
      .filter((key) => !keys.includes(key) && !COMMON.includes(key))
      .map((key) => problem(`is not a key of ${type === undefined ? "a receiver without type" : type}`, key)),
    ...problemIf(typeof to !== "string" && to.length + cc.length > MOST_RECIPIENTS, TOGETHER_RULE, "to"),
    ...(type === "call" ? ["concurrency", "digest"] : [])
      .filter((key) => Object.hasOwn(receiver, key))
      .map((key) => problem("must be absent: a phone rings once at a time", key)),
    ...formProblems(receiver),
  ]
}

/** Values of keys that differ between types. */
const formProblems = ({ type, ...values }: Parameters<typeof typeProblems>[0]): Problems => {
  const given: Readonly<Record<string, unknown>> = values
  const forms = (type && keyForms[type]) ?? {}
  return [
    ...problemIf(type === "email" && typeof given["to"] === "string", LIST_RULE, "to"),
    ...Object.entries(forms).flatMap(([key, { expected, form }]) => {
      const value = given[key]
      const isFormed = value === undefined || (typeof value === "string" && form.test(value))
      return problemIf(!isFormed, `must be ${expected}`, key)
    }),
  ]
}

const TOGETHER_RULE = `must have at most ${MOST_RECIPIENTS} addresses, those in cc included`
const LIST_RULE = `must be a list of 1 to ${MOST_RECIPIENTS} addresses such as ops@example.org`

const quietProblems = (quiet: Quiet): Problems => [
  ...problemIf(quiet.tz === undefined, "is missing", "tz"),
  ...hoursProblems(quiet),
]

/** Faults of a receiver that its schema cannot express. */
export const receiverProblems = (name: string, receiver: Receiver, hasMailServer: boolean): Problems => [
  ...(receiver.quiet === undefined ? [] : at(quietProblems(receiver.quiet), "quiet")),
  ...(receiver.tz === undefined ? [] : zoneProblems(receiver.tz)),
  ...problemIf(
    isKind(name) && receiver.kind !== name,
    `must be ${name}: a receiver named like a kind is of that kind`,
    "kind",
  ),
  ...problemIf(!hasMailServer && needsMailServer(receiver), NO_MAIL_SERVER),
  ...kindProblems(hasMailServer || needsMailServer(receiver) ? withServer(receiver, ANY_SERVER) : receiver),
]

/** The problem of a receiver that states no mail server where none is shared. */
export const NO_MAIL_SERVER =
  "names no mail server: give it url_file or url_env, the policy mail, or the server SERVICE_SMTP_URL and SERVICE_EMAIL_FROM"

/** Stands for the shared mail server, whose problems are reported where it is stated. */
const ANY_SERVER: Mail = { url_env: "SERVICE_SMTP_URL", from: "tocsin@example.org" }

/** Faults of the mail server of a policy that its schema cannot express. */
export const mailProblems = (mail: Mail): Problems => secretProblems(mail, "url", true)

const kindProblems = (receiver: Receiver): Problems => {
  switch (receiver.kind) {
    case "webhook":
      return [...secretProblems(receiver, "url", true), ...secretProblems(receiver, "secret", true)]
    case "alert_router":
      return receiver.type === undefined
        ? [...typeProblems(receiver), ...secretProblems(receiver, "url", true), ...unreadProblems(receiver)]
        : typeProblems(receiver)
    case "messenger":
      return receiver.type === undefined
        ? [...typeProblems(receiver), ...messengerProblems(receiver)]
        : typeProblems(receiver)
    case "debug":
      return unreadProblems(receiver)
  }
}

/** A program reads the messages of this receiver, or a log does. */
const unreadProblems = ({ acknowledge }: Receiver): Problems =>
  problemIf(acknowledge !== undefined, "must be absent: no person reads these messages", "acknowledge")

const messengerProblems = (receiver: Extract<Receiver, { readonly kind: "messenger" }>): Problems => {
  const isTelegram = receiver.telegram_chat !== undefined
  const hasToken = receiver.telegram_token_file !== undefined || receiver.telegram_token_env !== undefined
  const hasUrl = receiver.url_file !== undefined || receiver.url_env !== undefined
  if (hasUrl && (isTelegram || hasToken)) return [problem("must have a url or a Telegram chat, not both")]
  if (hasToken && !isTelegram) return [problem("is missing", "telegram_chat")]
  return isTelegram ? secretProblems(receiver, "telegram_token", true) : secretProblems(receiver, "url", true)
}
