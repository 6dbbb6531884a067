import { MOST_SECRET_BYTES, MOST_SECRETS } from "@tocsin/contract/receivers/ReceiverSecrets"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { recordAudit, type Signature } from "../../heart/audit/recordAudit.ts"
import { commandOf, type Decision, load, loadRow, loneCommandOf } from "../../kernel/unitOfWork/Decision.ts"
import { find } from "../../kernel/unitOfWork/Search.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { EncryptedSecrets } from "./openSecrets.ts"

export const TOO_MANY = `stored secrets may be ${MOST_SECRETS}, and encrypted 4 MiB together, which these would exceed: delete unused ones first (tocsin secrets list, or GET /ops/v1/secrets, names them)`

/** Stores all secrets of one receiver, within a decision; `undefined` if all would be too many or too large. */
export function* putSecrets(unit: UnitOfWork, secrets: EncryptedSecrets, by: Signature) {
  yield* load(unit, { groups: { receiver_secrets: ["all"] } })
  const others = unit
    .of("receiver_secrets")
    .group("all")
    .filter(({ name }) => name !== secrets.name)
  // Base64 has one byte a character.
  const bytes = others.reduce((sum, { ciphertext }) => sum + ciphertext.length, secrets.ciphertext.length)
  if (others.length >= MOST_SECRETS || bytes > MOST_SECRET_BYTES) return undefined
  const row = { ...secrets, changed_by: by.actor, changed_at: unit.now }
  unit.of("receiver_secrets").put(row)
  recordAudit(unit, by, "secret.stored", [row.name], { keys: row.keys.join(", ") })
  return row
}

/** {@link putSecrets} as a command. */
export const storeSecrets = commandOf(putSecrets)

/** Deletes the secrets of one receiver, within a decision. Returns how many rows there were. */
export function* dropSecrets(unit: UnitOfWork, name: NotifierName, by: Signature): Decision<number> {
  if ((yield* loadRow(unit, "receiver_secrets", name)) === undefined) return 0
  unit.of("receiver_secrets").delete(name)
  recordAudit(unit, by, "secret.removed", [name], {})
  return 1
}

/** Deletes secrets that a version of the stored policy does not name; `undefined` if there is a newer one. */
export const removeSecrets = loneCommandOf(function* (
  unit,
  name: NotifierName,
  version: number,
  by: Signature,
) {
  const newest = yield* find("newestPolicy", undefined)
  return version === (newest?.version ?? 0) ? yield* dropSecrets(unit, name, by) : undefined
})
