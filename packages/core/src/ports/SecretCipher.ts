import { Context, type Redacted, type Result } from "effect"
import type { SecretValues } from "@tocsin/contract/ReceiverSecrets"
import type { NotifierName } from "@tocsin/contract/Status"

export interface Decrypted {
  readonly text: Redacted.Redacted
  /** Whether the second key opened it, so that it must be encrypted again before that one is gone. */
  readonly isFormer: boolean
}

/** Encrypts the secrets of receivers (docs/rules.md#stored-secrets), as synchronous functions. */
export interface SecretCipher {
  /** Identify the key that encrypts, and the second one, which only decrypts, without revealing them. */
  readonly keyIds: readonly [first: string, second?: string]
  /** Encrypts the text of the row of this name: no other row can have it. */
  readonly encrypt: (name: NotifierName, text: Redacted.Redacted) => string
  /** Decrypts the text of the row of this name; `undefined` if no key opens it. */
  readonly decrypt: (name: NotifierName, ciphertext: string) => Decrypted | undefined
}

/** The values of the secrets that a policy names by their names, or why a receiver cannot have them. */
export type OpenedSecrets = ReadonlyMap<NotifierName, Result.Result<SecretValues, string>>

/** {@link SecretCipher} under the keys of this process; absent without one. */
export const SecretCipher = Context.Reference<SecretCipher | undefined>("@tocsin/core/ports/SecretCipher", {
  defaultValue: () => undefined,
})
