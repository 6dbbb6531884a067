import { Redacted, Result, Schema } from "effect"
import type { StoredProbe } from "@tocsin/contract/watches/WatchProbe"
import {
  haveSameOrigin,
  type ProbeSecrets,
  secretNames,
  secretsOf,
  withoutSecrets,
  withSecrets,
} from "@tocsin/contract/watches/watchSecrets"
import type { WatchRecord, WatchTerms } from "./WatchRecord.ts"
import type { SecretCipher, SecretState } from "../../kernel/ports/SecretCipher.ts"

type Sealable = Pick<WatchRecord, "headers" | "name" | "probe">

const Sealed = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))
const encode = Schema.encodeSync(Sealed)
const decode = Schema.decodeUnknownResult(Sealed)

/** No header field has a number as its value. */
const FORMAT = 2

/** Header fields alone stay as the release before this one reads them. */
const written = ({ headers, ...others }: ProbeSecrets): Readonly<Record<string, unknown>> =>
  Object.keys(others).length === 0 && headers !== undefined
    ? headers
    : { format: FORMAT, ...others, ...(headers !== undefined && { headers }) }

/** This process wrote and authenticated it, so it has the fields that it was given. */
const read = ({ format, ...others }: Readonly<Record<string, unknown>>): ProbeSecrets =>
  (format === FORMAT
    ? others
    : { headers: { ...others, ...(format !== undefined && { format }) } }) as ProbeSecrets

/** The associated data of a watch's secrets: no receiver has such a name, and no other watch this one. */
const rowOf = ({ name }: Sealable): string => `watch:${name}`

/** Whether secrets stand in clear. */
export const isPlain = ({ probe }: Pick<Sealable, "probe">): boolean => secretsOf(probe) !== undefined

/** A watch whose secrets are encrypted. */
export const sealed = <W extends Sealable>(watch: W, { encrypt, keyIds: [key_id] }: SecretCipher): W => {
  const secrets = secretsOf(watch.probe)
  if (secrets === undefined) return watch
  const ciphertext = encrypt(rowOf(watch), Redacted.make(encode(written(secrets))))
  return {
    ...watch,
    probe: withoutSecrets(watch.probe),
    headers: { ciphertext, key_id, names: secretNames(secrets) },
  }
}

/** The state of the secrets of a watch, `plain` in clear and `absent` without, and its probe unless no key opens them. */
export const openProbe = (
  watch: Sealable,
  cipher: SecretCipher | undefined,
): { readonly state: SecretState | "plain"; readonly probe?: StoredProbe } => {
  const { headers: stored, probe } = watch
  if (stored === undefined) return { state: isPlain(watch) ? "plain" : "absent", probe }
  const opened = cipher?.decrypt(rowOf(watch), stored.ciphertext)
  const secrets = opened && decode(Redacted.value(opened.text))
  if (secrets === undefined || Result.isFailure(secrets)) return { state: "unreadable" }
  const state = opened?.isFormer === true ? "former" : "readable"
  return { state, probe: withSecrets(probe, read(secrets.success)) }
}

/** The names of the secrets of a watch. */
export const namesOf = ({ headers, probe }: Sealable): ReadonlyArray<string> =>
  headers === undefined ? secretNames(secretsOf(probe) ?? {}) : (headers.names ?? ["headers"])

/** A changed probe with the secrets of the former one, if it states none and asks the same origin. */
export const keepingSecrets = (
  former: Sealable,
  terms: Partial<Pick<WatchTerms, "headers" | "probe">>,
): Partial<Pick<WatchTerms, "headers" | "probe">> => {
  const { headers, probe } = terms
  const statesSome = headers !== undefined || (probe !== undefined && isPlain({ probe }))
  if (probe === undefined || statesSome || !haveSameOrigin(former.probe, probe)) return terms
  const plain = secretsOf(former.probe)
  return { headers: former.headers, probe: plain === undefined ? probe : withSecrets(probe, plain) }
}
