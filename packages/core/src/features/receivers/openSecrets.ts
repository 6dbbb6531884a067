import { Redacted, Result, Schema } from "effect"
import { type SecretName, SecretValues } from "@tocsin/contract/receivers/ReceiverSecrets"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { ReceiverSecretsRecord } from "./ReceiverSecretsRecord.ts"
import type { OpenedSecrets } from "../../heart/policy/namedSecrets.ts"
import type { SecretCipher, SecretState } from "../../kernel/ports/SecretCipher.ts"

const Text = Schema.fromJsonString(SecretValues)
const encode = Schema.encodeSync(Text)
const decode = Schema.decodeUnknownResult(Text)

/** The row of secrets, without who stored it and when. */
export type EncryptedSecrets = Omit<ReceiverSecretsRecord, "changed_at" | "changed_by">

export const encryptSecrets = (
  name: NotifierName,
  values: SecretValues,
  { encrypt, keyIds: [key_id] }: SecretCipher,
): EncryptedSecrets => ({
  name,
  // A schema without other keys made them.
  keys: Object.keys(values).toSorted() as ReadonlyArray<SecretName>,
  ciphertext: encrypt(name, Redacted.make(encode(values))),
  key_id,
})

/** The state of a row, and its values unless no key opens it. */
export const openRow = (
  row: ReceiverSecretsRecord | undefined,
  cipher: SecretCipher | undefined,
): { readonly state: SecretState; readonly values?: SecretValues } => {
  if (row === undefined) return { state: "absent" }
  const opened = cipher?.decrypt(row.name, row.ciphertext)
  const values = opened && decode(Redacted.value(opened.text))
  if (values === undefined || Result.isFailure(values)) return { state: "unreadable" }
  return { state: opened?.isFormer === true ? "former" : "readable", values: values.success }
}

export const openSecrets = (
  names: Iterable<NotifierName>,
  rows: ReadonlyArray<ReceiverSecretsRecord>,
  cipher: SecretCipher | undefined,
): OpenedSecrets => {
  const byName = new Map(rows.map((row) => [row.name, row]))
  const open = (name: NotifierName): Result.Result<SecretValues, string> => {
    const row = byName.get(name)
    const { values } = openRow(row, cipher)
    if (values !== undefined) return Result.succeed(values)
    if (row === undefined)
      return Result.fail(
        `names ${name}, which is not stored: use tocsin secrets put, or PUT /ops/v1/secrets/NAME`,
      )
    return Result.fail(
      cipher === undefined
        ? `names ${name}, but this server has no SERVICE_SECRETS_KEY: set it to the key ${row.key_id}, or to a new one and store the secrets again`
        : `names ${name}, which no key of SERVICE_SECRETS_KEY opens: give the server the key ${row.key_id}, or store the secrets again`,
    )
  }
  return new Map(Array.from(names, (name) => [name, open(name)]))
}
