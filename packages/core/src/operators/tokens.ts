import { Redacted } from "effect"
import { EnrolmentId } from "@tocsin/contract/Enrolments"
import { SessionId } from "@tocsin/contract/Sessions"
import type { Hashing } from "../ports/Hashing.ts"

const PREFIXES = {
  operator: "tocsin_",
  integration: "in_",
  enrolment: "enrol_",
  session: "session_",
} as const
type TokenKind = keyof typeof PREFIXES

const SECRET = /^[A-Za-z0-9_-]{43}$/

/** Whether a token has the shape of this kind. Agents cannot register with one. */
export const isTokenOf = (kind: TokenKind, token: Redacted.Redacted): boolean => {
  const text = Redacted.value(token)
  const prefix = PREFIXES[kind]
  return text.startsWith(prefix) && SECRET.test(text.slice(prefix.length))
}

/**
 * Keys of integrations in a text, also where an address was encoded or a text has escapes before them. A longer word, or
 * a part of one, is a key only if it has the mixture of one.
 */
const KEYS =
  /in_(?:(?<!\win_)|(?<=(?:%[\dA-Fa-f]{2}|\\[a-z]|_)in_))(?:(?=[\w-]{0,42}[A-Z])(?=[\w-]{0,42}[a-z])[\w-]{43}|[\w-]{43}(?![\w-]))/gu

/** A text without keys of integrations, which senders repeat (docs/rules.md#requests-of-senders). */
export const withoutKeys = (text: string): string => text.replaceAll(KEYS, "in_***")

/** The token of this kind with a secret, which is 32 random bytes as base64url. */
export const tokenOf = (kind: TokenKind, secret: string): Redacted.Redacted =>
  Redacted.make(PREFIXES[kind] + secret)

/** The ID of what a token stands for. The token cannot be derived from it. */
const idOf = (salt: string, { identify, sha256 }: Hashing["Service"], token: Redacted.Redacted): string =>
  sha256(`${salt}:${identify(token).key_hash}`).slice(0, 32)

export const enrolmentIdOf = (hashing: Hashing["Service"], token: Redacted.Redacted) =>
  EnrolmentId.make(idOf("en1", hashing, token))

export const sessionIdOf = (hashing: Hashing["Service"], token: Redacted.Redacted) =>
  SessionId.make(idOf("se1", hashing, token))
