import { Duration, Effect, Redacted } from "effect"
import type { CreateEnrolmentRequest, Enrolment, EnrolmentId } from "@tocsin/contract/enrolment/Enrolments"
import * as Instant from "@tocsin/contract/formats/Instant"
import { recordAudit, type Signature } from "../../heart/audit/recordAudit.ts"
import {
  type EnrolmentRecord,
  enrolmentState,
  EnrolmentTransitions,
} from "../../heart/model/EnrolmentRecord.ts"
import { enrolmentIdOf, tokenOf } from "../../heart/operators/tokens.ts"
import { type PageParameters, pageReader } from "../../kernel/engine/lists/readPage.ts"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { commandOf, load, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import { operationPorts } from "../../heart/usecases/operationPorts.ts"

type NewEnrolment = Pick<EnrolmentRecord, "id" | "agent_id" | "uses" | "expires_at">

const createEnrolment = commandOf(function* (
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
const removeEnrolment = commandOf(function* (unit, id: EnrolmentId, by: Signature) {
  const enrolment = yield* loadRow(unit, "enrolment", id)
  if (enrolment === undefined) return 0
  move(EnrolmentTransitions, enrolmentState(enrolment, unit.now), "removed")
  unit.of("enrolment").delete(id)
  recordAudit(unit, by, "enrolment.removed", [id], {})
  return 1
})

const USUAL_TIME = Duration.hours(1)

const toEnrolment = (record: EnrolmentRecord, now: Instant.Instant): Enrolment => ({
  ...record,
  agent_id: record.agent_id ?? null,
  state: enrolmentState(record, now),
})

/** Operators' decisions about enrolments (docs/rules.md#enrolment). */
export const enrolmentOperations = Effect.gen(function* () {
  const { hashing, ids, signed, storage } = yield* operationPorts
  const page = pageReader(storage, hashing.sha256)
  return {
    list: (parameters: PageParameters) =>
      page(
        { list: "enrolments", filter: {}, sort: "created_at", direction: "desc" },
        parameters,
        toEnrolment,
      ),
    /** Creates an enrolment, and returns its token this once. */
    create: Effect.fn("Admission.createEnrolment")(function* ({
      agent_id,
      expires_in = USUAL_TIME,
      uses = 1,
    }: CreateEnrolmentRequest) {
      const token = tokenOf("enrolment", yield* Effect.sync(ids.secret))
      const now = yield* Instant.now
      const enrolment = {
        id: enrolmentIdOf(hashing, token),
        agent_id,
        uses,
        expires_at: Instant.plus(now, expires_in),
      }
      const created = yield* signed((by) => createEnrolment(enrolment, by))
      return { ...toEnrolment(created, now), token: Redacted.value(token) }
    }),
    /** Deletes an enrolment; count 0 if there is none of this ID. */
    remove: Effect.fn("Admission.removeEnrolment")(function* (id: EnrolmentId) {
      return { count: yield* signed((by) => removeEnrolment(id, by)) }
    }),
  }
})
