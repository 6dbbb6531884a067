import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto"
import { Result } from "effect"

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
