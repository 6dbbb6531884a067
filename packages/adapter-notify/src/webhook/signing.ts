import { createHmac, createSecretKey, type KeyObject } from "node:crypto"
import type { Instant } from "@tocsin/contract/Instant"
import { Redacted, Result } from "effect"

/** The key of one secret, prepared once: preparing its bytes takes three times as long as a signature. */
export type SigningKey = Redacted.Redacted<KeyObject>

const PREFIX = "whsec_"
/** Required by Standard Webhooks: one message suffices to guess a shorter key. */
const KEY_BYTES = { least: 24, most: 64 }
const MICROS_PER_SECOND = 1_000_000n

/**
 * Reads secrets of Standard Webhooks: base64 with or without `whsec_`. Strict, because a lenient
 * reading could differ from the receiver's. A failure completes "… must …" without a secret.
 */
export const parseSecrets = (
  secrets: ReadonlyArray<Redacted.Redacted>,
): Result.Result<ReadonlyArray<SigningKey>, string> => {
  const keys = secrets.map((secret) => keyOf(Redacted.value(secret)))
  const valid = keys.filter((key) => key !== undefined)
  if (keys.length === 0) return Result.fail("must contain at least one secret: whsec_ followed by base64")
  const bad = keys.indexOf(undefined) + 1
  const which = keys.length === 1 ? "" : `, which number ${bad} of ${keys.length} is not`
  return bad === 0
    ? Result.succeed(valid)
    : Result.fail(
        `must be whsec_ followed by 24 to 64 bytes in base64 (padded, as printed by openssl rand -base64 32)${which}`,
      )
}

const keyOf = (secret: string): SigningKey | undefined => {
  const base64 = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret
  const key = Buffer.from(base64, "base64")
  const isLongEnough = key.length >= KEY_BYTES.least && key.length <= KEY_BYTES.most
  return isLongEnough && key.toString("base64") === base64 ? Redacted.make(createSecretKey(key)) : undefined
}

/** The signature headers of Standard Webhooks, with a `v1` signature for each key in order. */
export const signatureHeaders = (
  keys: ReadonlyArray<SigningKey>,
  message: { readonly id: string; readonly at: Instant; readonly body: string },
) => {
  const timestamp = (message.at / MICROS_PER_SECOND).toString()
  const signed = `${message.id}.${timestamp}.${message.body}`
  const signatureOf = (key: SigningKey) =>
    `v1,${createHmac("sha256", Redacted.value(key)).update(signed).digest("base64")}`
  return {
    "webhook-id": message.id,
    "webhook-timestamp": timestamp,
    "webhook-signature": keys.map(signatureOf).join(" "),
  }
}
