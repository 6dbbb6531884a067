import { Schema } from "effect"
import { isPlainText, plainText } from "./isPlainText.ts"

const LENGTH = { min: 1, max: 253 }
const TEXT = plainText(LENGTH)

/** The name of the host that an agent runs on, as the agent gives it: 1 to 253 characters (docs/rules.md#numbers-and-text). */
export const Hostname = Schema.String.check(
  isPlainText(LENGTH).annotate({
    identifier: "Hostname",
    description: "The name of the host that the agent runs on.",
  }),
)

/** Whether a value is a {@link Hostname}, without the schema's machinery. */
export const isHostname = (value: unknown): value is string => typeof value === "string" && TEXT.test(value)
