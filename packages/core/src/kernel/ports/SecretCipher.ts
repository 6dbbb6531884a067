import { Context, type Redacted } from "effect"
import type { NotifierName } from "@tocsin/contract/formats/Status"

export interface Decrypted {
  readonly text: Redacted.Redacted
  /** Whether the second key opened it, so that it must be encrypted again before that one is gone. */
  readonly isFormer: boolean
}

/** Secrets as a server sees them: `former` ones are opened by its second key alone. */
export type SecretState = "absent" | "readable" | "former" | "unreadable"

/** Encrypts the secrets of receivers (docs/rules.md#stored-secrets), as synchronous functions. */
export interface SecretCipher {
  /** Identify the key that encrypts, and the second one, which only decrypts, without revealing them. */
  readonly keyIds: readonly [first: string, second?: string]
  /** Encrypts the text of the row of this name: no other row can have it. */
  readonly encrypt: (name: NotifierName, text: Redacted.Redacted) => string
  /** Decrypts the text of the row of this name; `undefined` if no key opens it. */
  readonly decrypt: (name: NotifierName, ciphertext: string) => Decrypted | undefined
}

/** {@link SecretCipher} under the keys of this process; absent without one. */
export const SecretCipher = Context.Reference<SecretCipher | undefined>(
  "@tocsin/core/kernel/ports/SecretCipher",
  {
    defaultValue: () => undefined,
  },
)

/** The refusal to store secrets without a key. */
export const NO_KEY =
  "there is no key for stored secrets: set SERVICE_SECRETS_KEY to 64 hex digits (openssl rand -hex 32), the same on every server; with the embedded database, start the server once, which makes one"
