import type { KeyHash } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { OperatorName, Role } from "@tocsin/contract/Operators"
import { isValidSecret } from "./replacedSecret.ts"
import { instant, type KeyedShape, orUndefined, text } from "./TableShape.ts"

/** One named operator as stored: hashes of the tokens only (docs/rules.md#operators). */
export interface OperatorRecord {
  readonly name: OperatorName
  readonly role: Role
  readonly token_hash: KeyHash
  /** The token before the last rotation, while it is still valid. */
  readonly former_token_hash: KeyHash | undefined
  readonly former_valid_until: Instant | undefined
  readonly created_at: Instant
  readonly created_by: string
  readonly expires_at: Instant | undefined
  /** Recorded at most once a minute. */
  readonly last_used_at: Instant | undefined
}

/** Whether a token with this hash is valid for an operator at this moment. */
export const isValidToken = (operator: OperatorRecord, hash: KeyHash, now: Instant): boolean => {
  if (operator.expires_at !== undefined && operator.expires_at <= now) return false
  const { former_token_hash: former, former_valid_until, token_hash: present } = operator
  return isValidSecret(hash, now, { present, former, former_valid_until })
}

/** Its table. */
export const operator: KeyedShape<OperatorRecord, readonly ["name"]> = {
  name: "operator",
  key: ["name"],
  locks: "rows",
  columns: {
    name: text,
    role: text,
    token_hash: text,
    former_token_hash: orUndefined(text),
    former_valid_until: orUndefined(instant),
    created_at: instant,
    created_by: text,
    expires_at: orUndefined(instant),
    last_used_at: orUndefined(instant),
  },
}
