import { Redacted } from "effect"
import type { SettingProblem } from "../../settings/readSettings.ts"
import type { Settings } from "../../settings/Settings.ts"
import { attention, failed, type Findings, ok } from "./Finding.ts"

/**
 * Whether a server could start with these settings, and which variables only look like settings.
 */
export const examineSettings = (
  problems: ReadonlyArray<SettingProblem>,
  unknown: ReadonlyArray<SettingProblem>,
): Findings => [
  ...(problems.length === 0 ? [ok("settings", "all settings are valid")] : problems.map(problemFinding)),
  ...unknown.map(({ message }) => attention("settings", message)),
]

const problemFinding = ({ message, isMissing }: SettingProblem) =>
  isMissing === true
    ? // It may be set for the server's process only.
      attention("settings", `${message}; ignore this if the server gets the setting elsewhere`)
    : failed("settings", `${message}; see tocsin serve --help`, "usage")

/** Guesses are throttled, but a correct one always succeeds, so a token must be beyond guessing. */
const SHORTEST_TOKEN = 16

/** Reports tokens that are easy to guess. */
export const examineTokens = (values: Partial<Settings>): Findings =>
  (["SERVICE_AUTH_TOKEN", "SERVICE_READ_TOKEN"] as const)
    .filter((name) => values[name]?.some((token) => Redacted.value(token).length < SHORTEST_TOKEN))
    .map((name) =>
      attention(
        "tokens",
        `${name} has a token of fewer than ${SHORTEST_TOKEN} characters, which is easy to guess: generate one with openssl rand -base64 32`,
      ),
    )

const LOOPBACK = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/

/** Reports which pages may call from browsers, if any may. */
export const examineOrigins = ({ SERVICE_ALLOWED_ORIGINS: origins }: Partial<Settings>): Findings => {
  if (origins === undefined) return []
  if (origins === "*") {
    return [
      attention(
        "browsers",
        "pages of every origin may call the API: list the origins you trust in SERVICE_ALLOWED_ORIGINS",
      ),
    ]
  }
  const plain = origins.filter((origin) => origin.startsWith("http://") && !LOOPBACK.test(origin))
  return plain.length === 0
    ? [ok("browsers", `pages of ${origins.join(", ")} may call`)]
    : [
        attention(
          "browsers",
          `pages of ${plain.join(", ")} are not encrypted, which exposes the token they use: serve them over https`,
        ),
      ]
}
