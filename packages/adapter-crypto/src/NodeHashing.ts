import { createHmac, hash } from "node:crypto"
import type { KeyFingerprint, KeyHash } from "@tocsin/contract/formats/Identifiers"
import { Hashing, type KeyIdentity } from "@tocsin/core/kernel/ports/Hashing"
import { Layer, Redacted } from "effect"
import { decrypt, encrypt } from "./AesSecretCipher.ts"

const FINGERPRINT_DIGITS = 16

const sealingKey = (secret: Redacted.Redacted): Buffer =>
  createHmac("sha256", Redacted.value(secret)).update("tocsin sealed text").digest()

/** SHA-256 of the UTF-8 bytes of `text`, in lower-case hex. */
export const sha256 = (text: string): string => hash("sha256", text)

/** {@link Hashing} on node:crypto, with SERVICE_KEY_PEPPER (docs/rules.md#what-is-stored-of-a-key). */
export const layer = (
  options: { readonly pepper?: Redacted.Redacted | undefined } = {},
): Layer.Layer<Hashing> =>
  Layer.sync(Hashing, () => {
    const { pepper } = options
    const peppered = (text: string): string | undefined =>
      pepper && createHmac("sha256", Redacted.value(pepper)).update(text).digest("hex")
    const identityOf = (key: string): KeyIdentity => {
      const digest = sha256(key)
      return {
        // A digest satisfies these brands; decoding would check it again on every request.
        key_hash: (peppered(key) ?? digest) as KeyHash,
        key_fingerprint: digest.slice(0, FINGERPRINT_DIGITS) as KeyFingerprint,
      }
    }
    // A connection presents the same key with each request. An entry lives as long as its key.
    const identities = new WeakMap<Redacted.Redacted, KeyIdentity>()
    return Hashing.of({
      identify: (key) => {
        const known = identities.get(key)
        if (known !== undefined) return known
        const identity = identityOf(Redacted.value(key))
        identities.set(key, identity)
        return identity
      },
      sha256,
      seal: (secret, text) => encrypt(sealingKey(secret), text),
      open: (secret, sealed) => decrypt(sealingKey(secret), sealed),
      pepperCheck: peppered("tocsin pepper check") ?? "none",
    })
  })
