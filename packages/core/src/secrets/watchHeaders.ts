import { Redacted, Result, Schema } from "effect"
import type { StoredProbe } from "@tocsin/contract/Watches"
import type { WatchRecord } from "../model/WatchRecord.ts"
import type { SecretCipher } from "../ports/SecretCipher.ts"
import type { SecretState } from "./openSecrets.ts"

type Sealable = Pick<WatchRecord, "headers" | "name" | "probe">

const Headers = Schema.fromJsonString(Schema.Record(Schema.String, Schema.String))
const encode = Schema.encodeSync(Headers)
const decode = Schema.decodeUnknownResult(Headers)

/** The associated data of a watch's header fields: no receiver has such a name, and no other watch this one. */
const rowOf = ({ name }: Sealable): string => `watch:${name}`

/** Whether header fields stand in clear. */
export const isPlain = ({ probe }: Pick<Sealable, "probe">): boolean => probe.http?.headers !== undefined

/** A watch whose header fields are encrypted. */
export const sealed = <W extends Sealable>(watch: W, { encrypt, keyIds: [key_id] }: SecretCipher): W => {
  const { http, ...others } = watch.probe
  const { headers, ...page } = http ?? { url: "" }
  if (headers === undefined) return watch
  const ciphertext = encrypt(rowOf(watch), Redacted.make(encode(headers)))
  return { ...watch, probe: { ...others, http: page }, headers: { ciphertext, key_id } }
}

/** The state of the header fields of a watch, `plain` in clear and `absent` without, and its probe unless no key opens them. */
export const openProbe = (
  watch: Sealable,
  cipher: SecretCipher | undefined,
): { readonly state: SecretState | "plain"; readonly probe?: StoredProbe } => {
  const { headers: stored, probe } = watch
  if (stored === undefined) return { state: isPlain(watch) ? "plain" : "absent", probe }
  const opened = cipher?.decrypt(rowOf(watch), stored.ciphertext)
  const headers = opened && decode(Redacted.value(opened.text))
  if (headers === undefined || Result.isFailure(headers) || probe.http === undefined)
    return { state: "unreadable" }
  const state = opened?.isFormer === true ? "former" : "readable"
  return { state, probe: { ...probe, http: { ...probe.http, headers: headers.success } } }
}
