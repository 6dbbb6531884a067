import { Duration } from "effect"
import { recordAudit, type Signature } from "../audit/recordAudit.ts"
import type { KeyHash } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { formatDuration } from "@tocsin/contract/formats/DurationText"
import { commandOf, type Decision, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import { endSubscriptions } from "./endSubscriptions.ts"
import { isValidToken, type OperatorRecord } from "../model/OperatorRecord.ts"
import { formerSecret } from "../../kernel/model/replacedSecret.ts"
import type { OperatorName, Role } from "@tocsin/contract/operators/Operators"

export type NewOperator = Pick<OperatorRecord, "name" | "role" | "expires_at" | "token_hash">

/** The fields to change in an operator; absent fields stay. */
export interface OperatorChanges {
  readonly role?: Role
  /** `undefined`: the operator no longer expires. */
  readonly expires_at?: Instant.Instant | undefined
}

// Limits how often a request writes (docs/rules.md#operators).
const USE_NOTED_EVERY = Duration.minutes(1)

/** Creates an operator; `undefined` if the name is in use. */
export const createOperator = commandOf(function* (unit, created: NewOperator, by: Signature) {
  if ((yield* loadRow(unit, "operator", created.name)) !== undefined) return undefined
  const operator: OperatorRecord = {
    ...created,
    former_token_hash: undefined,
    former_valid_until: undefined,
    created_at: unit.now,
    created_by: by.actor,
    last_used_at: undefined,
  }
  unit.of("operator").put(operator)
  const { name, role, expires_at } = operator
  recordAudit(unit, by, "operator.created", [name], { role, expires_at: shownTime(expires_at) })
  return operator
})

const shownTime = (time: Instant.Instant | undefined) => time && Instant.format(time)

/** Changes the role or the expiry; `undefined` if there is no such operator. */
export const changeOperator = commandOf(function* (
  unit,
  name: OperatorName,
  changes: OperatorChanges,
  by: Signature,
): Decision<OperatorRecord | undefined> {
  const operator = yield* loadRow(unit, "operator", name)
  if (operator === undefined) return undefined
  const changed = { ...operator, ...changes }
  const hasNewRole = changed.role !== operator.role
  const hasNewExpiry = changed.expires_at !== operator.expires_at
  if (!hasNewRole && !hasNewExpiry) return operator
  unit.of("operator").put(changed)
  recordAudit(unit, by, "operator.changed", [name], {
    role: hasNewRole ? changed.role : undefined,
    // Null states that it no longer expires.
    expires_at: hasNewExpiry ? (shownTime(changed.expires_at) ?? null) : undefined,
  })
  return changed
})

/** Replaces the token. A token that was already replaced before ends at once. */
export const rotateToken = commandOf(function* (
  unit,
  name: OperatorName,
  { token_hash, grace }: { readonly token_hash: KeyHash; readonly grace: Duration.Duration },
  by: Signature,
): Decision<OperatorRecord | undefined> {
  const operator = yield* loadRow(unit, "operator", name)
  if (operator === undefined) return undefined
  const former = formerSecret(operator.token_hash, grace, unit.now)
  const changed = {
    ...operator,
    token_hash,
    former_token_hash: former?.hash,
    former_valid_until: former?.valid_until,
  }
  unit.of("operator").put(changed)
  recordAudit(unit, by, "operator.rotated", [name], { grace: formatDuration(grace) })
  // The former token ends at once: whoever had it must not be notified either.
  if (Duration.isZero(grace)) yield* endSubscriptions(unit, name, by)
  return changed
})

export const removeOperator = commandOf(function* (unit, name: OperatorName, by: Signature) {
  if ((yield* loadRow(unit, "operator", name)) === undefined) return 0
  unit.of("operator").delete(name)
  recordAudit(unit, by, "operator.removed", [name], {})
  yield* endSubscriptions(unit, name, by)
  return 1
})

/** Whether a use at this moment is to be recorded. */
export const isUseNotable = ({ last_used_at }: OperatorRecord, now: Instant.Instant): boolean =>
  last_used_at === undefined || last_used_at <= Instant.minus(now, USE_NOTED_EVERY)

/** Records that an operator used this token, unless it has ended or another replica just did. */
export const noteUse = commandOf(function* (unit, name: OperatorName, token_hash: KeyHash) {
  const operator = yield* loadRow(unit, "operator", name)
  if (operator === undefined || !isValidToken(operator, token_hash, unit.now)) return
  if (isUseNotable(operator, unit.now)) unit.of("operator").put({ ...operator, last_used_at: unit.now })
})
