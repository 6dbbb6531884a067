import { hash, timingSafeEqual } from "node:crypto"
import { Redacted } from "effect"

const WELL_FORMED = /^[\x21-\x7e]{1,512}$/

/** Whether a bearer token is one: 1 to 512 visible ASCII characters (decisions §1). */
export const isWellFormed = (token: Redacted.Redacted): boolean => WELL_FORMED.test(Redacted.value(token))

const digest = (token: Redacted.Redacted): Buffer => hash("sha256", Redacted.value(token), "buffer")

/**
 * Makes a test of whether a token is one of `tokens`. It compares digests, each in constant time, and always all of
 * them, so that its duration tells nothing of the tokens (contract, Authentication).
 */
export const isOneOf = (
  tokens: ReadonlyArray<Redacted.Redacted>,
): ((token: Redacted.Redacted) => boolean) => {
  const digests = tokens.map(digest)
  return (token) => {
    const candidate = digest(token)
    let matches = 0
    for (const known of digests) matches |= Number(timingSafeEqual(known, candidate))
    return matches !== 0
  }
}
