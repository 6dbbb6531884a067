import { Redacted, Result, Schema } from "effect"
import type { PushKeyRecord, SubscriptionRecord } from "../../heart/model/SubscriptionRecord.ts"
import type { SecretCipher, SecretState } from "../../kernel/ports/SecretCipher.ts"
import type { PushAddress, VapidKey } from "./PushService.ts"

const hidden = Schema.RedactedFromValue(Schema.String)
const Address = Schema.fromJsonString(Schema.Struct({ endpoint: hidden, p256dh: hidden, auth: hidden }))
const encode = Schema.encodeSync(Address)
const decode = Schema.decodeUnknownResult(Address)

type Row = Pick<SubscriptionRecord, "id" | "operator">

/** The associated data: no receiver has such a name, and no other browser this one. */
const rowOf = ({ id, operator }: Row): string => `push:${operator}:${id}`
const KEY = "push:vapid"

/** The address and the keys of a browser of an operator, encrypted. */
export const sealAddress = (row: Row, address: PushAddress, { encrypt, keyIds: [key_id] }: SecretCipher) => ({
  ciphertext: encrypt(rowOf(row), Redacted.make(encode(address))),
  key_id,
})

interface Opened<A> {
  readonly state: SecretState
  readonly value?: A
}

/** The state of the row of a browser, and its address unless no key opens it. */
export const openAddress = (
  row: Row & Pick<SubscriptionRecord, "ciphertext">,
  cipher: SecretCipher | undefined,
): Opened<PushAddress> => {
  const opened = cipher?.decrypt(rowOf(row), row.ciphertext)
  const value = opened && decode(Redacted.value(opened.text))
  if (value === undefined || Result.isFailure(value)) return { state: "unreadable" }
  return { state: opened?.isFormer === true ? "former" : "readable", value: value.success }
}

/** The row of a key of this service, encrypted. */
export const sealKey = (
  { private_key, public_key }: VapidKey,
  { encrypt, keyIds: [key_id] }: SecretCipher,
): Omit<PushKeyRecord, "created_at"> => ({
  name: "vapid",
  public_key,
  ciphertext: encrypt(KEY, private_key),
  key_id,
})

/** The same of the key of this service. */
export const openKey = (
  row: PushKeyRecord | undefined,
  cipher: SecretCipher | undefined,
): Opened<VapidKey> => {
  if (row === undefined) return { state: "absent" }
  const opened = cipher?.decrypt(KEY, row.ciphertext)
  if (opened === undefined) return { state: "unreadable" }
  const state = opened.isFormer ? "former" : "readable"
  return { state, value: { public_key: row.public_key, private_key: opened.text } }
}
