import type { EnrolmentId } from "@tocsin/contract/enrolment/Enrolments"
import type { AgentId, KeyHash } from "@tocsin/contract/formats/Identifiers"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { commandOf, type Decision, load, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import { recordAudit, type Signature } from "../audit/recordAudit.ts"
import type { EnrolOutcome } from "../model/admissionOutcomes.ts"
import { enrolmentState, EnrolmentTransitions } from "../model/EnrolmentRecord.ts"
import { acceptKey, recognise } from "./agentKeys.ts"

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
  if (enrolment.agent_id === undefined) {
    // By such a token, anybody could choose the name of a place, and get its watches.
    yield* load(unit, { groups: { watch: ["all"] } })
    const watches = unit.of("watch").group("all")
    if (watches.some(({ places }) => places?.from.includes(agent_id))) return "name_of_place"
  }
  const used = enrolment.used + 1
  move(EnrolmentTransitions, state, used < enrolment.uses ? "enrolled" : "last_enrolled")
  unit.of("enrolment").put({ ...enrolment, used })
  yield* acceptKey(unit, found.agent, { ...found.key, state: "pending" }, "enrolled")
  recordAudit(unit, by, "agent.accepted", [agent_id], {})
  return "enrolled"
})
