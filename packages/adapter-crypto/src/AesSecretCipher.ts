import { createHmac } from "node:crypto"
import type { SecretCipher } from "@tocsin/core/kernel/ports/SecretCipher"
import { Redacted } from "effect"
import { decrypt, encrypt } from "./aesGcm.ts"

/** The form of the keys: 32 bytes in hex digits, and after a comma the second key. */
export const SECRETS_KEYS = /^[0-9a-fA-F]{64}(?:,[0-9a-fA-F]{64})?$/

const ID_DIGITS = 8

const idOf = (key: Buffer): string =>
  createHmac("sha256", key).update("tocsin secrets key").digest("hex").slice(0, ID_DIGITS)

/** {@link SecretCipher}: AES-256-GCM with the name of the row as associated data (docs/rules.md#stored-secrets). */
export const secretCipher = (given: Redacted.Redacted): SecretCipher => {
  const keys = Redacted.value(given)
    .split(",")
    .map((key) => Buffer.from(key, "hex"))
  const [first = Buffer.alloc(0), second] = keys
  return {
    keyIds: second === undefined ? [idOf(first)] : [idOf(first), idOf(second)],
    encrypt: (name, text) => encrypt(first, Redacted.value(text), name),
    decrypt: (name, ciphertext) => {
      for (const key of keys) {
        const text = decrypt(key, ciphertext, name)
        if (text !== undefined) return { text: Redacted.make(text), isFormer: key !== first }
      }
      return undefined
    },
  }
}
