import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto"
import type { SecretCipher } from "@tocsin/core/kernel/ports/SecretCipher"
import { Redacted, Result } from "effect"

const CIPHER = "aes-256-gcm"
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts a text by AES-256-GCM under a key of 32 bytes, as base64 of the nonce, the tag and the bytes. It is
 * bound to `associated`, which is not part of the result.
 */
export const encrypt = (key: Buffer, text: string, associated = ""): string => {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(associated))
  const sealed = Buffer.concat([cipher.update(text, "utf8"), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString("base64")
}

/** Decrypts a text of {@link encrypt}; `undefined` with another key, or bound to something else. */
export const decrypt = (key: Buffer, sealed: string, associated = ""): string | undefined => {
  const bytes = Buffer.from(sealed, "base64")
  const read = Result.try(() => {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    }).setAAD(Buffer.from(associated))
    decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
  })
  return Result.isSuccess(read) ? read.success.toString("utf8") : undefined
}

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
