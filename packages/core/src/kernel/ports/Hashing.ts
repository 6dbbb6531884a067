import { Context, type Redacted } from "effect"
import type { KeyFingerprint, KeyHash, OutboxId } from "@tocsin/contract/formats/Identifiers"
import type { NotifierName } from "@tocsin/contract/formats/Status"

/** The stored form of an agent key. The key cannot be derived from it. */
export interface KeyIdentity {
  readonly key_hash: KeyHash
  readonly key_fingerprint: KeyFingerprint
}

/** Hashes and encryption, as synchronous functions. The implementation has the pepper, if any. */
export class Hashing extends Context.Service<
  Hashing,
  {
    /** SHA-256 (HMAC with the pepper, if set) and fingerprint of an agent key. */
    readonly identify: (key: Redacted.Redacted) => KeyIdentity
    /** SHA-256 of the UTF-8 bytes of `text`, in lower-case hex. */
    readonly sha256: (text: string) => string
    /** Encrypts a text. Only {@link open} with the same secret, which has no fewer than 128 bits, reads it. */
    readonly seal: (secret: Redacted.Redacted, text: string) => string
    /** Decrypts a sealed text; `undefined` with another secret. */
    readonly open: (secret: Redacted.Redacted, sealed: string) => string | undefined
    /** Identifies the pepper without revealing it; constant without a pepper. */
    readonly pepperCheck: string
  }
>()("@tocsin/core/kernel/ports/Hashing") {}

/** Makes and reads the tokens of links that act (docs/rules.md#links), as pure synchronous functions. */
export interface LinkSigner {
  /** The token of a notification, always the same. */
  readonly tokenOf: (id: OutboxId) => string
  /** The notification of a token that {@link LinkSigner.tokenOf} made; nothing for any other text. */
  readonly idOf: (token: string) => OutboxId | undefined
  /** The token of the calendar of a rota (docs/rules.md#calendars), always the same. */
  readonly calendarTokenOf: (rota: NotifierName) => string
  /** Whether a text is the token of the calendar of a rota. */
  readonly isOfCalendar: (token: string, rota: NotifierName) => boolean
  /** A digest of a text that may have secrets, of which nobody without the key can check a guess. */
  readonly markOf: (text: string) => string
}

/** {@link LinkSigner} under the link key; absent without one. */
export const LinkSigner = Context.Reference<LinkSigner | undefined>("@tocsin/core/ports/LinkSigner", {
  defaultValue: () => undefined,
})
