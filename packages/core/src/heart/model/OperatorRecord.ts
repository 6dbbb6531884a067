import type { KeyHash } from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { OperatorName, Role } from "@tocsin/contract/operators/Operators"
import { isValidSecret } from "../../kernel/model/replacedSecret.ts"
import { instant, keyedTable, orUndefined, type RecordOf, text } from "../../kernel/model/TableShape.ts"

/** One named operator as stored: hashes of the tokens only (docs/rules.md#operators). */
export const operator = keyedTable({
  name: "operator",
  key: ["name"],
  locks: "rows",
  list: { name: "operators", orders: { name: ["name"] } },
  columns: {
    name: text<OperatorName>(),
    role: text<Role>(),
    token_hash: text<KeyHash>(),
    /** The token before the last rotation, while it is still valid. */
    former_token_hash: orUndefined(text<KeyHash>()),
    former_valid_until: orUndefined(instant),
    created_at: instant,
    created_by: text(),
    expires_at: orUndefined(instant),
    /** Recorded at most once a minute. */
    last_used_at: orUndefined(instant),
  },
})
export type OperatorRecord = RecordOf<typeof operator>

export const isValidToken = (row: OperatorRecord, hash: KeyHash, now: Instant): boolean => {
  if (row.expires_at !== undefined && row.expires_at <= now) return false
  const { former_token_hash: former, former_valid_until, token_hash: present } = row
  return isValidSecret(hash, now, { present, former, former_valid_until })
}
