import type { SecretName } from "@tocsin/contract/receivers/ReceiverSecrets"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { stateTable } from "@tocsin/contract/formats/TransitionTable"
import { array, instant, keyedTable, type RecordOf, text } from "../../kernel/model/TableShape.ts"

/** The secrets of one receiver, encrypted (docs/rules.md#stored-secrets). */
export const receiver_secrets = keyedTable({
  name: "receiver_secrets",
  key: ["name"],
  group: [],
  locks: "groups",
  list: { name: "secrets", orders: { name: ["name"] } },
  columns: {
    name: text<NotifierName>(),
    keys: array<SecretName>(),
    ciphertext: text(),
    /** Identifies the key that opens it, without revealing that. */
    key_id: text(),
    changed_by: text(),
    changed_at: instant,
  },
})
/** So many characters begin no other ciphertext: the nonce has sixteen. */
const SECRET_MARK = 24
export type ReceiverSecretsRecord = RecordOf<typeof receiver_secrets>

/** The beginning of a ciphertext: no two encryptions share it. */
export const secretMark = ({ ciphertext }: Pick<ReceiverSecretsRecord, "ciphertext">): string =>
  ciphertext.slice(0, SECRET_MARK)

/** Transitions of the secrets of one name (docs/rules.md#stored-secrets). Computed from the row and the keys of a server. */
export const SecretTransitions = stateTable({
  absent: {
    "stored -> readable": "an admin stores them | a receiver that names them is made within 5 s",
  },
  readable: {
    "stored -> readable": "an admin stores others | the receiver is made again within 5 s",
    "key_replaced -> former": "the server starts with another first key, and theirs as the second",
    "key_lost -> unreadable":
      "the server starts without their key | a receiver that names them is unavailable",
    "removed -> absent": "an admin deletes them, and no receiver names them",
  },
  former: {
    "stored -> readable": "an admin stores others | the receiver is made again within 5 s",
    "encrypted -> readable": "a server that has both keys has started | the first key opens them",
    "key_found -> readable": "the server starts with their key as the first again",
    "key_lost -> unreadable":
      "the server starts without their key | a receiver that names them is unavailable",
    "removed -> absent": "an admin deletes them, and no receiver names them",
  },
  unreadable: {
    "stored -> readable": "an admin stores them again | the receiver is made within 5 s",
    "key_found -> readable": "the server starts with their key as the first | the receiver is made",
    "key_added -> former": "the server starts with their key as the second | the receiver is made",
    "removed -> absent": "an admin deletes them, and no receiver names them",
  },
})
