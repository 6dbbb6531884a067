import { Redacted } from "effect"
import type { Settings } from "../../settings/Settings.ts"
import { attention, type Findings } from "./Finding.ts"

const NAMES = ["SERVICE_AUTH_TOKEN", "SERVICE_READ_TOKEN"] as const

/** A correct guess passes however many were wrong, so a token has to be beyond guessing: sixteen characters are. */
const SHORTEST_TOKEN = 16

/** Tokens that somebody could guess. */
export const examineTokens = (values: Partial<Settings>): Findings =>
  NAMES.filter((name) => values[name]?.some((token) => Redacted.value(token).length < SHORTEST_TOKEN)).map(
    (name) =>
      attention(
        "tokens",
        `${name} has a token of fewer than ${SHORTEST_TOKEN} characters, which is easy to guess: generate one with openssl rand -base64 32`,
      ),
  )
