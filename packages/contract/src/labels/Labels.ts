import { Schema, SchemaGetter } from "effect"
import { isSecretLikeLabelKey } from "./isSecretLikeLabelKey.ts"
import { isPlainText, plainText } from "../formats/Text.ts"

/** How many labels an agent may have (docs/rules.md#values). */
export const MAX_LABELS = 32
export const TOO_MANY_LABELS = `must contain at most ${MAX_LABELS} entries`

const LABEL_KEY = /^[A-Za-z0-9._:-]{1,64}$/u

/** A label's key in a request. */
export const labelKey = (description: string) =>
  Schema.String.annotate({ description }).check(
    Schema.isPattern(LABEL_KEY, {
      expected: "a label's key: 1 to 64 letters, digits or the characters . _ : -",
    }),
  )

const VALUE_LENGTH = { min: 0, max: 256 }
const VALUE_TEXT = plainText(VALUE_LENGTH)

/** The limits of labels. Of a secret-like key the label is dropped where it is not refused. */
const labelKeys = (identifier: string, description: string, refusesSecrets: boolean) =>
  Schema.makeFilter<object>(
    (labels) => {
      const keys = Object.keys(labels)
      if (keys.length > MAX_LABELS) return TOO_MANY_LABELS
      for (const key of keys) {
        if (!LABEL_KEY.test(key)) {
          return {
            path: [key],
            issue: "must have a key of 1 to 64 letters, digits or the characters . _ : -",
          }
        }
        if (refusesSecrets && isSecretLikeLabelKey(key)) {
          return { path: [key], issue: "has a key that looks like a secret: remove the label or rename it" }
        }
      }
      return undefined
    },
    {
      identifier,
      description,
      expected: "an object with string values",
      toJsonSchema: () => ({
        maxProperties: MAX_LABELS,
        propertyNames: { maxLength: 64, pattern: "^[A-Za-z0-9._:-]+$" },
      }),
    },
  )

const LabelTexts = Schema.Record(Schema.String, Schema.String.check(isPlainText(VALUE_LENGTH)))

/**
 * An agent's labels: at most 32, none with a key that looks like a secret
 * (docs/rules.md#secret-like-labels). `__proto__` and `constructor` are ordinary keys.
 */
export const Labels = LabelTexts.check(
  labelKeys(
    "Labels",
    "The agent's statements about itself, as names and values. The key service_agent_version is for agents.",
    true,
  ),
)
export type Labels = typeof Labels.Type

/** The labels of a check, without those whose keys look like a secret (docs/rules.md#check-labels). */
export const CheckLabels = LabelTexts.check(
  labelKeys("DeclaredLabels", "Labels of the check. One whose key looks like a secret is dropped.", false),
).pipe(
  Schema.decode({
    decode: SchemaGetter.transform((labels) =>
      Object.fromEntries(Object.entries(labels).filter(([key]) => !isSecretLikeLabelKey(key))),
    ),
    encode: SchemaGetter.transform((labels) => labels),
  }),
)

// Agents repeat the same few keys, and the secret check would cost as much as all other checks.
const HARMLESS_KEPT = 1_000
const harmless = new Set<string>()

const isLabelKey = (key: string): boolean => {
  if (harmless.has(key)) return true
  if (!LABEL_KEY.test(key) || isSecretLikeLabelKey(key)) return false
  if (harmless.size < HARMLESS_KEPT) harmless.add(key)
  return true
}

/** Whether a value is {@link Labels}; faster than the schema. */
export const isLabels = (value: unknown): value is Labels => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false
  if (Object.keys(value).length > MAX_LABELS) return false
  for (const [key, text] of Object.entries(value)) {
    if (!isLabelKey(key) || typeof text !== "string" || !VALUE_TEXT.test(text)) return false
  }
  return true
}
