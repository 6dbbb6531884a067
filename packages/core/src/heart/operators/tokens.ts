import { Record, Redacted, Struct } from "effect"
import { EnrolmentId } from "@tocsin/contract/enrolment/Enrolments"
import type { Hashing } from "../../kernel/ports/Hashing.ts"

const PREFIXES = {
  operator: "tocsin_",
  integration: "in_",
  enrolment: "enrol_",
  session: "session_",
  invitation: "invite_",
  /** A part of addresses of mail, whose senders may change its case. */
  mail: "in_",
} as const
type TokenKind = keyof typeof PREFIXES

const SECRET = /^[A-Za-z0-9_-]{43}$/
const SECRET_OF_MAIL = /^[a-z2-7]{26}$/

/** Whether a token has the shape of this kind. Agents cannot register with one. */
export const isTokenOf = (kind: TokenKind, token: Redacted.Redacted): boolean => {
  const text = Redacted.value(token)
  const prefix = PREFIXES[kind]
  const shape = kind === "mail" ? SECRET_OF_MAIL : SECRET
  return text.startsWith(prefix) && shape.test(text.slice(prefix.length))
}

/** Whether a token is of a kind whose holders may not use it as the key of an agent. An operator's is refused where it is unknown. */
export const isOfNoAgent = (token: Redacted.Redacted): boolean =>
  Struct.keys(PREFIXES).some((kind) => kind !== "operator" && isTokenOf(kind, token))

/**
 * Keys of integrations in a text, also where an address was encoded or a text has escapes before them. A longer word, or
 * a part of one, is a key only if it has the mixture of one.
 */
const KEYS =
  /in_(?:(?<!\win_)|(?<=(?:%[\dA-Fa-f]{2}|\\[a-z]|_)in_))(?:(?=[\w-]{0,42}[A-Z])(?=[\w-]{0,42}[a-z])[\w-]{43}|[\w-]{43}(?![\w-]))/gu

/** Keys in addresses of mail, which mail servers copy into what they send on. */
const KEYS_OF_MAIL = /in_[a-z2-7]{26}/giu

/** A text without keys of integrations, which senders repeat (docs/rules.md#requests-of-senders). */
export const withoutKeys = (text: string): string =>
  text.replaceAll(KEYS, "in_***").replaceAll(KEYS_OF_MAIL, "in_***")

const BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567"
/** Digits of base64url whose 132 bits make 26 digits of base32. */
const DIGITS_OF_MAIL = 22

/** The last 130 bits of a secret in letters that survive a change of case. */
const base32Of = (secret: string): string => {
  const digits = Array.from(secret.slice(-DIGITS_OF_MAIL), (digit) => BASE64URL.indexOf(digit))
  let bits = digits.reduce((sum, digit) => (sum << 6n) | BigInt(digit), 0n)
  let text = ""
  for (let count = 0; count < 26; count++) {
    text = (BASE32[Number(bits & 31n)] ?? "") + text
    bits >>= 5n
  }
  return text
}

/** The token of this kind with a secret, which is 32 random bytes as base64url. */
export const tokenOf = (kind: TokenKind, secret: string): Redacted.Redacted =>
  Redacted.make(PREFIXES[kind] + (kind === "mail" ? base32Of(secret) : secret))

/** The ID of what a token stands for. The token cannot be derived from it. */
export const idOf = (
  salt: string,
  { identify, sha256 }: Hashing["Service"],
  token: Redacted.Redacted,
): string => sha256(`${salt}:${identify(token).key_hash}`).slice(0, 32)

export const enrolmentIdOf = (hashing: Hashing["Service"], token: Redacted.Redacted) =>
  EnrolmentId.make(idOf("en1", hashing, token))

/** The role of a token, or `undefined` for an unknown one. */
export type RoleOf<Role extends string> = (token: Redacted.Redacted) => Role | undefined

/** Compares digests in a time that does not depend on where they differ. */
const isSame = (a: string, b: string): boolean => {
  let difference = a.length ^ b.length
  for (let at = 0; at < a.length; at++) difference |= a.charCodeAt(at) ^ b.charCodeAt(at)
  return difference === 0
}

/**
 * Finds the role of a token. It always compares all digests, each in constant time, so that its
 * duration reveals nothing (docs/rules.md#tokens). A token with two roles has the last one. The
 * owner of the lists may change them: every call sees their current content.
 */
export const roleOf = <Role extends string>(
  sha256: Hashing["Service"]["sha256"],
  tokens: Readonly<Record<Role, ReadonlyArray<Redacted.Redacted>>>,
): RoleOf<Role> => {
  const digest = (token: Redacted.Redacted): string => sha256(Redacted.value(token))
  return (token) => {
    const presented = digest(token)
    let found: Role | undefined
    for (const [role, listed] of Record.toEntries(tokens))
      for (const one of listed) found = isSame(digest(one), presented) ? role : found
    return found
  }
}
