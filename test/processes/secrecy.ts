/** Settings by their variables. */
export type Environment = Readonly<Record<string, string>>

/** The output of a process so far. */
export interface ProcessOutput {
  readonly stdout: string
  readonly stderr: string
}

/** Part of every secret of these tests, so that a secret is recognized anywhere. */
export const MARK = "tell-no-one"

/** A key, token, password or part of an address, by its purpose. */
export const secretOf = (name: string): string => `${MARK}-${name}-${MARK}`

/** A secret of Standard Webhooks. */
export const webhookSecretOf = (name: string): string =>
  `whsec_${Buffer.from(secretOf(name)).toString("base64")}`

const inBase64 = [0, 1, 2].map((offset) =>
  Buffer.from("x".repeat(offset) + MARK)
    .toString("base64")
    // The first and last digits also depend on the text around the mark.
    .slice(offset === 0 ? 0 : 4, -4),
)
const marked = new RegExp([MARK, Buffer.from(MARK).toString("hex"), ...inBase64].join("|"), "i")

const TOKEN_LINE = /^([\w-]{32})\n$/

/** Shorter ones are words like any other, which prove nothing when they are found. */
const LEAST_PASSWORD = 8

const passwordOf = ({ DATABASE_URL = "" }: Environment): string | undefined => {
  const password = URL.parse(DATABASE_URL)?.password ?? ""
  return password.length < LEAST_PASSWORD ? undefined : password
}

const near = (text: string, index: number): string => text.slice(Math.max(0, index - 200), index + 80)

/**
 * The texts that a server must not write, empty where there are none: secrets, and on standard
 * output anything but the token that it generated (README, docs/rules.md#agent-keys,
 * docs/rules.md#notifiers).
 */
export const exposedIn = (
  { stdout, stderr }: ProcessOutput,
  environment: Environment,
): ReadonlyArray<string> => {
  const token = environment["SERVICE_AUTH_TOKEN"] === undefined ? TOKEN_LINE.exec(stdout)?.[1] : undefined
  const found = [marked.exec(stderr)?.[0], token, passwordOf(environment)]
    .filter((secret) => secret !== undefined)
    .filter((secret) => stderr.includes(secret))
    .map((secret) => `in the log: …${near(stderr, stderr.indexOf(secret))}`)
  return token === undefined && stdout !== ""
    ? [...found, `on standard output: ${stdout.slice(0, 200)}`]
    : found
}
