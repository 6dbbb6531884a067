import type { EnrolmentId } from "@tocsin/contract/Enrolments"
import type { AgentId, KeyHash } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import { move } from "@tocsin/contract/TransitionTable"
import { recordAudit } from "../audit/recordAudit.ts"
import type { Signature } from "../audit/Signature.ts"
import { commandOf, type Decision } from "../unitOfWork/Decision.ts"
import { load, loadRow } from "../unitOfWork/load.ts"
import {
  type EnrolmentRecord,
  enrolmentState,
  EnrolmentTransitions,
  type EnrolOutcome,
} from "../model/EnrolmentRecord.ts"
import { acceptKey, recognise } from "./agentKeys.ts"

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

/** A key that asks to be accepted, and the enrolment of its token. */
export interface Enrolling {
  readonly agent_id: AgentId
  readonly key_hash: KeyHash
  readonly enrolment: EnrolmentId
}

/** Accepts a pending agent for one use of an open enrolment (docs/rules.md#enrolment). */
export const enrol = commandOf(function* (
  unit,
  { agent_id, enrolment: id, key_hash }: Enrolling,
  by: Signature,
): Decision<EnrolOutcome> {
  const found = yield* recognise(unit, { agent_id, key_hash })
  if (found.standing === "accepted") return "repeated"
  if (found.standing === "blocked") return "agent_blocked"
  if (found.standing !== "pending") return "agent_not_accepted"
  if (found.agent.accepted_key_hash !== undefined) return "replacement_key"
  const enrolment = yield* loadRow(unit, "enrolment", id)
  if (enrolment === undefined || (enrolment.agent_id ?? agent_id) !== agent_id) return "unknown_token"
  const state = enrolmentState(enrolment, unit.now)
  if (state !== "open") return "unknown_token"
  const used = enrolment.used + 1
  move(EnrolmentTransitions, state, used < enrolment.uses ? "enrolled" : "last_enrolled")
  unit.of("enrolment").put({ ...enrolment, used })
  yield* acceptKey(unit, found.agent, { ...found.key, state: "pending" }, "enrolled")
  recordAudit(unit, by, "agent.accepted", [agent_id], {})
  return "enrolled"
})
