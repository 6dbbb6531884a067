import { Schema } from "effect"
import { isPlainText } from "./isPlainText.ts"

/** The name of the host that an agent runs on, as the agent gives it: 1 to 253 characters (decisions §2). */
export const Hostname = Schema.String.check(
  isPlainText({ min: 1, max: 253 }).annotate({
    identifier: "Hostname",
    description: "The name of the host that the agent runs on.",
  }),
)
