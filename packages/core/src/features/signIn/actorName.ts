import type { Claims } from "./IdentityProvider.ts"

/** Some issuers send it as text. */
const VERIFIED: ReadonlyArray<unknown> = [true, "true"]

const isName = (value: unknown): value is string => typeof value === "string" && value.trim() !== ""

/** An address that the issuer has not verified may be another person's. */
const nameIn = ({ email, email_verified, preferred_username }: Claims): string | undefined =>
  [preferred_username, VERIFIED.includes(email_verified) ? email : undefined].find(isName)

export const hasName = (claims: Claims): boolean => nameIn(claims) !== undefined

const LONGEST_NAME = 51
/** No character is longer than this in its other case. */
const LONGEST_CASE = 3

/** The name of a person in the audit. Names of operators, tokens and users of the command line never begin like it. */
export const actorName = (all: ReadonlyArray<Claims>, subject: string): string => {
  // Two people may have one `name`, which is still better to read than a `sub`.
  const given = [...all.map(nameIn), ...all.map(({ name }) => name)].filter(isName).map(plainName)
  // A name in another script would be `oidc:__`.
  return `oidc:${given.find((name) => /[a-z0-9]/.test(name)) ?? plainName(subject)}`
}

const plainName = (given: string): string =>
  given
    .trim()
    .slice(0, LONGEST_NAME * LONGEST_CASE)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]/gu, "_")
    .slice(0, LONGEST_NAME)

/** Digits of an identity's hash behind a name that another identity has; more where that is taken, too. */
const DIGITS = [6, 12, 64]

/** The names that an identity may have, the best first. The last one is its alone. */
export const namesFor = (name: string, identity: string): readonly [string, ...ReadonlyArray<string>] => [
  name,
  ...DIGITS.map((digits) => `${name}.${identity.slice(0, digits)}`),
]
