import { Schema } from "effect"
import { isSecretLikeLabelKey } from "./isSecretLikeLabelKey.ts"
import { isPlainText } from "./isPlainText.ts"

/** How many labels an agent may have (contract, limits). */
export const MAX_LABELS = 32
/** What is said of labels that are more. */
export const TOO_MANY_LABELS = `must hold at most ${MAX_LABELS} entries`

const LABEL_KEY = /^[A-Za-z0-9._:-]{1,64}$/u

const hasLabelKeys = Schema.makeFilter<object>(
  (labels) => {
    const keys = Object.keys(labels)
    if (keys.length > MAX_LABELS) return TOO_MANY_LABELS
    for (const key of keys) {
      if (!LABEL_KEY.test(key)) {
        return { path: [key], issue: "must have a key of 1 to 64 letters, digits or the characters . _ : -" }
      }
      if (isSecretLikeLabelKey(key)) {
        return { path: [key], issue: "has a key that looks like a secret: remove the label or rename it" }
      }
    }
    return undefined
  },
  {
    identifier: "Labels",
    description:
      "What the agent says of itself, as names and values. The key service_agent_version is for agents.",
    expected: "an object of texts",
    toJsonSchema: () => ({
      maxProperties: MAX_LABELS,
      propertyNames: { maxLength: 64, pattern: "^[A-Za-z0-9._:-]+$" },
    }),
  },
)

/**
 * What an agent says of itself, as names and values: at most 32, without keys that look like secrets (contract,
 * HeartbeatRequest; decisions §4). `__proto__` and `constructor` are keys like others: own properties.
 */
export const Labels = Schema.Record(
  Schema.String,
  Schema.String.check(isPlainText({ min: 0, max: 256 })),
).check(hasLabelKeys)
export type Labels = typeof Labels.Type
