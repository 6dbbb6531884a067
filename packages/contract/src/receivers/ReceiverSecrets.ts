import { Schema } from "effect"
import { closedStruct, named } from "../formats/Fields.ts"
import { InstantFromString } from "../formats/Instant.ts"
import { utf8Length } from "../formats/outputText.ts"
import type { Mail, Receiver } from "./Receiver.ts"
import { receiverTypes, type TypeKeys } from "./ReceiverTypes.ts"
import { NotifierName } from "../formats/Status.ts"

/** The longest value of a secret, in bytes of UTF-8. */
const MAX_SECRET_BYTES = 8_192

/** How many receivers may have stored secrets, whether or not a policy names them. */
export const MOST_SECRETS = 1_000

/** The most bytes of ciphertext that all stored secrets have together: each server reads all that its policy names. */
export const MOST_SECRET_BYTES = 4_194_304

const isShort = Schema.makeFilter<string>(
  (text) => text.length <= MAX_SECRET_BYTES && utf8Length(text) <= MAX_SECRET_BYTES,
  {
    expected: `a text of at most ${MAX_SECRET_BYTES} bytes of UTF-8`,
    toJsonSchema: () => ({ maxLength: MAX_SECRET_BYTES }),
  },
)

const value = (description: string) =>
  Schema.optionalKey(
    Schema.RedactedFromValue(
      Schema.String.check(Schema.isMinLength(1), isShort).annotate({ description, writeOnly: true }),
    ),
  )

/** The secrets of one receiver, by the beginnings of the keys that name their files. */
export const SecretValues = closedStruct({
  url: value("The address, or that of the type's service."),
  secret: value("The signing secrets of a webhook, separated by spaces."),
  telegram_token: value("A Telegram bot's token."),
  token: value("A token of the type's service."),
  user: value("Pushover's user or group key."),
  routing_key: value("PagerDuty's integration key."),
  key: value("Opsgenie's API key."),
}).annotate(named("SecretValues", "The secrets of a receiver. No answer has them."))
export type SecretValues = typeof SecretValues.Type

/** Not by `keyof`, whose declaration would need the types of Effect. */
export type SecretName = "url" | "secret" | "telegram_token" | "token" | "user" | "routing_key" | "key"

// Object.keys has lost the type of the names.
export const secretNames = Object.keys(SecretValues.fields) as ReadonlyArray<SecretName & keyof SecretValues>

/** The name of the stored secrets of a receiver or mail server, if it has some. */
export const storedNameOf = (receiver: Mail | Receiver): NotifierName | undefined =>
  "secrets" in receiver ? receiver.secrets : undefined

/** The secrets without which a receiver cannot be used. */
export const neededSecrets = (receiver: Receiver): ReadonlyArray<SecretName> => {
  if (receiver.kind === "debug") return []
  if (receiver.kind === "webhook") return ["url", "secret"]
  if (receiver.type === undefined)
    return "telegram_chat" in receiver && receiver.telegram_chat !== undefined ? ["telegram_token"] : ["url"]
  const { needs }: TypeKeys = receiverTypes[receiver.type]
  // Each of these keys begins with the name of a secret.
  return needs.flatMap((key) => (key.endsWith("_") ? [key.slice(0, -1) as SecretName] : []))
}

const SOME = { expected: "an object with at least one secret" }

/** All secrets of a receiver, as they are stored. */
export const StoredValues = SecretValues.check(Schema.isMinProperties(1, SOME))

export const PutSecretsRequest = closedStruct({ values: StoredValues }).annotate(
  named("PutSecretsRequest", "All secrets of a receiver: those that are left out are deleted."),
)
export type PutSecretsRequest = typeof PutSecretsRequest.Type

export const StoredSecrets = Schema.Struct({
  name: NotifierName.annotateKey({ description: "The name by which a policy names them." }),
  keys: Schema.Array(Schema.Literals(secretNames)).annotate({ description: "Which secrets there are." }),
  changed_by: Schema.String.annotateKey({ description: "The operator who stored them." }),
  changed_at: InstantFromString,
  receiver: Schema.NullOr(NotifierName).annotate({
    description: "The receiver of the newest stored policy that names them; null if none does.",
  }),
  unreadable: Schema.Boolean.annotate({
    description: "Whether no key of the server opens them. Storing them again repairs that.",
  }),
}).annotate(named("StoredSecrets", "The stored secrets of one receiver, without their values."))
export type StoredSecrets = typeof StoredSecrets.Type

export const StoredSecretsList = Schema.Struct({ items: Schema.Array(StoredSecrets) }).annotate(
  named("StoredSecretsList", "All stored secrets, by name."),
)

export const SecretsPath = Schema.Struct({
  name: NotifierName.annotateKey({ description: "The name of a receiver's stored secrets." }),
})
