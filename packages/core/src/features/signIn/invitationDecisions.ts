import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { OperatorName } from "@tocsin/contract/operators/Operators"
import type { InvitationId } from "@tocsin/contract/signIn/Invitations"
import type { SessionId } from "@tocsin/contract/signIn/Sessions"
import { recordAudit, type Signature } from "../../heart/audit/recordAudit.ts"
import { isValidToken, type OperatorRecord } from "../../heart/model/OperatorRecord.ts"
import { commandOf, type Decision, load, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { type InvitationRecord, isOpen } from "./InvitationRecord.ts"
import { OF_OPERATOR, type SessionRecord } from "./SessionRecord.ts"

/** How long an invitation waits for its operator. */
const LASTS = Duration.hours(24)
/** Open invitations that an operator has at most. */
export const MOST_INVITATIONS = 10
/** How long a session of an invitation lasts; its operator may end it before. */
const SESSION_LASTS = Duration.days(30)

function* openOf(unit: UnitOfWork, operator: OperatorRecord): Decision<ReadonlyArray<InvitationRecord>> {
  yield* load(unit, { groups: { invitation: [operator.name] } })
  return unit
    .of("invitation")
    .group(operator.name)
    .filter((row) => isOpen(row, unit.now) && row.operator_since === operator.created_at)
}

/** Invites an operator; says why not where there is none, or too many invitations wait. */
export const invite = commandOf(function* (
  unit,
  name: OperatorName,
  id: InvitationId,
  by: Signature,
): Decision<InvitationRecord | "absent" | "too_many"> {
  const operator = yield* loadRow(unit, "operator", name)
  if (operator === undefined) return "absent"
  if ((yield* openOf(unit, operator)).length >= MOST_INVITATIONS) return "too_many"
  const row: InvitationRecord = {
    id,
    operator: name,
    operator_since: operator.created_at,
    created_by: by.actor,
    created_at: unit.now,
    expires_at: Instant.plus(unit.now, LASTS),
    used_at: undefined,
  }
  unit.of("invitation").put(row)
  recordAudit(unit, by, "invitation.created", [id], {
    operator: name,
    expires_at: Instant.format(row.expires_at),
  })
  return row
})

/** The open invitations of an operator, the latest first; `undefined` if there is no such operator. */
export const readInvitations = commandOf(function* (
  unit,
  name: OperatorName,
): Decision<ReadonlyArray<InvitationRecord> | undefined> {
  const operator = yield* loadRow(unit, "operator", name)
  if (operator === undefined) return undefined
  return (yield* openOf(unit, operator)).toSorted((a, b) => Number(b.created_at - a.created_at))
})

/** Deletes an invitation. Returns how many there were. */
export const removeInvitation = commandOf(function* (
  unit,
  name: OperatorName,
  id: InvitationId,
  by: Signature,
): Decision<number> {
  const row = yield* loadRow(unit, "invitation", id)
  if (row === undefined || row.operator !== name) return 0
  unit.of("invitation").delete(id)
  recordAudit(unit, by, "invitation.removed", [id], { operator: name })
  return 1
})

/** The names of an invitation and its operator, whose row is locked first. */
type Named = Pick<InvitationRecord, "id" | "operator">

/** Whether an invitation counts, and whom it invites. Of several that use one at once, one finds it open. */
function* invited(unit: UnitOfWork, named: Named): Decision<OperatorRecord | "used" | undefined> {
  const operator = yield* loadRow(unit, "operator", named.operator)
  const row = yield* loadRow(unit, "invitation", named.id)
  if (row?.used_at !== undefined) return "used"
  if (row === undefined || !isOpen(row, unit.now)) return undefined
  if (operator === undefined || operator.created_at !== row.operator_since) return undefined
  return isValidToken(operator, operator.token_hash, unit.now) ? operator : undefined
}

/** {@link invited}, which uses nothing. */
export const peekAtInvitation = commandOf(invited)

/** Begins a session of the operator whom an invitation invites, and uses it. */
export const useInvitation = commandOf(function* (
  unit,
  named: Named,
  session: SessionId,
  by: Signature,
): Decision<SessionRecord | "used" | undefined> {
  const operator = yield* invited(unit, named)
  if (operator === undefined || operator === "used") return operator
  const row = unit.of("invitation").get(named.id)
  if (row !== undefined) unit.of("invitation").put({ ...row, used_at: unit.now })
  const { expires_at: end, name, role, token_hash } = operator
  const lasts = Instant.plus(unit.now, SESSION_LASTS)
  const expires_at = end === undefined ? lasts : Instant.min(lasts, end)
  const begun = {
    id: session,
    issuer: OF_OPERATOR,
    // It is as good as the token that its operator has now.
    identity: token_hash,
    name,
    role,
    created_at: unit.now,
    expires_at,
  }
  unit.of("session").put(begun)
  recordAudit(unit, { ...by, actor: name }, "session.began", [session], {
    role,
    expires_at: Instant.format(expires_at),
  })
  return begun
})
