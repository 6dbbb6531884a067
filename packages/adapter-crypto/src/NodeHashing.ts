import { createHmac, hash } from "node:crypto"
import type { KeyFingerprint, KeyHash } from "@tocsin/core/contract/Identifiers"
import { Hashing } from "@tocsin/core/ports/Hashing"
import { Layer, Redacted } from "effect"

const FINGERPRINT_DIGITS = 16

/** {@link Hashing} on node:crypto. `pepper`: SERVICE_KEY_PEPPER, if it is set (decisions §3). */
export const layer = (
  options: { readonly pepper?: Redacted.Redacted | undefined } = {},
): Layer.Layer<Hashing> =>
  Layer.sync(Hashing, () => {
    const { pepper } = options
    const peppered = (text: string): string | undefined =>
      pepper && createHmac("sha256", Redacted.value(pepper)).update(text).digest("hex")
    return Hashing.of({
      identify: (key) => {
        const digest = hash("sha256", Redacted.value(key))
        return {
          // So many lower-case hex digits are what these brands stand for; the schemas would look again at every request.
          key_hash: (peppered(Redacted.value(key)) ?? digest) as KeyHash,
          key_fingerprint: digest.slice(0, FINGERPRINT_DIGITS) as KeyFingerprint,
        }
      },
      sha256: (text) => hash("sha256", text),
      pepperCheck: peppered("tocsin pepper check") ?? "none",
    })
  })
