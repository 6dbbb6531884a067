import { hash, timingSafeEqual } from "node:crypto"
import { Record, Redacted } from "effect"

const WELL_FORMED = /^[\x21-\x7e]{1,512}$/

/** Whether a bearer token is one: 1 to 512 visible ASCII characters (docs/rules.md#tokens). */
export const isWellFormed = (token: Redacted.Redacted): boolean => WELL_FORMED.test(Redacted.value(token))

const SCHEME = "Bearer "

/** The token of a header Authorization that is written as usual; `undefined` of one that needs a closer look. */
export const usualToken = (authorization: string | undefined): Redacted.Redacted | undefined => {
  if (authorization?.startsWith(SCHEME) !== true) return undefined
  const token = authorization.slice(SCHEME.length)
  return WELL_FORMED.test(token) ? Redacted.make(token) : undefined
}

const DIGEST_LENGTH = 64
// As hex, and into a buffer that is there: a fifth of the time that a new one takes.
const writeDigest = (token: Redacted.Redacted, target: Buffer): Buffer => {
  target.write(hash("sha256", Redacted.value(token)), "latin1")
  return target
}
const digest = (token: Redacted.Redacted): Buffer => writeDigest(token, Buffer.alloc(DIGEST_LENGTH))

/** What a token is good for, or `undefined` for one that is not known. */
export type RoleOf<Role extends string> = (token: Redacted.Redacted) => Role | undefined

interface Known<Role extends string> {
  readonly role: Role
  readonly token: Redacted.Redacted
  readonly digest: Buffer
}

/**
 * Tells the role of a token. It compares digests, each in constant time, and always all of them, so that its duration
 * tells nothing of the tokens (docs/rules.md#tokens). Of a token with two roles the last one counts. The lists may change:
 * they count as they stand.
 */
export const roleOf = <Role extends string>(
  tokens: Readonly<Record<Role, ReadonlyArray<Redacted.Redacted>>>,
): RoleOf<Role> => {
  const lists = Record.toEntries(tokens)
  const read = (): ReadonlyArray<Known<Role>> =>
    lists.flatMap(([role, listed]) => listed.map((token) => ({ role, token, digest: digest(token) })))
  const isCurrent = (known: ReadonlyArray<Known<Role>>): boolean => {
    let at = 0
    for (const [role, listed] of lists) {
      for (const token of listed) {
        const { role: ofRole, token: kept } = known[at++] ?? {}
        if (kept !== token || ofRole !== role) return false
      }
    }
    return at === known.length
  }
  let known = read()
  const candidate = Buffer.alloc(DIGEST_LENGTH)
  return (token) => {
    if (!isCurrent(known)) known = read()
    writeDigest(token, candidate)
    let found: Role | undefined
    for (const { role, digest: expected } of known)
      found = timingSafeEqual(expected, candidate) ? role : found
    return found
  }
}
