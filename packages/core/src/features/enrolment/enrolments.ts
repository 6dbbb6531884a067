import type { EnrolmentId } from "@tocsin/contract/enrolment/Enrolments"
import * as Instant from "@tocsin/contract/formats/Instant"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { recordAudit, type Signature } from "../../heart/audit/recordAudit.ts"
import { commandOf, load, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import {
  type EnrolmentRecord,
  enrolmentState,
  EnrolmentTransitions,
} from "../../heart/model/EnrolmentRecord.ts"

export type NewEnrolment = Pick<EnrolmentRecord, "id" | "agent_id" | "uses" | "expires_at">

export const createEnrolment = commandOf(function* (
  unit,
  { agent_id, expires_at, id, uses }: NewEnrolment,
  by: Signature,
) {
  yield* load(unit, { rows: { enrolment: [id] } })
  const enrolment = { id, agent_id, uses, used: 0, expires_at, created_at: unit.now, created_by: by.actor }
  unit.of("enrolment").put(enrolment)
  recordAudit(unit, by, "enrolment.created", [id], {
    uses,
    expires_at: Instant.format(expires_at),
    agent_id,
  })
  return enrolment
})

/** Deletes an enrolment in any state. Returns how many there were. */
export const removeEnrolment = commandOf(function* (unit, id: EnrolmentId, by: Signature) {
  const enrolment = yield* loadRow(unit, "enrolment", id)
  if (enrolment === undefined) return 0
  move(EnrolmentTransitions, enrolmentState(enrolment, unit.now), "removed")
  unit.of("enrolment").delete(id)
  recordAudit(unit, by, "enrolment.removed", [id], {})
  return 1
})
