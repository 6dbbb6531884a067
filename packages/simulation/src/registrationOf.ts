import type { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Labels } from "@tocsin/contract/labels/Labels"
import type { HeartbeatRequest } from "@tocsin/contract/v1/Requests"
import type { Signature } from "@tocsin/core/heart/audit/recordAudit"
import { AuditId } from "@tocsin/contract/audit/Audit"
import { commandOf, load } from "@tocsin/core/kernel/unitOfWork/Decision"
import { checksOf } from "@tocsin/core/kernel/model/CheckRef"
import { labelCheck } from "@tocsin/core/heart/overdue/declareExpectations"

/** Older than any heartbeat, so that the fields of a real heartbeat replace these. */
const LONG_AGO = Instant.fromMicros(-62_135_596_800_000_000n)

/** A check that its agent has given labels. */
interface LabelledCheck {
  readonly check_id: CheckId
  readonly labels: Labels
}

export interface KnownAgent extends Pick<HeartbeatRequest, "agent_id" | "hostname" | "labels"> {
  readonly labelled?: ReadonlyArray<LabelledCheck>
}

export const registrationOf = ({ labelled: _, ...agent }: KnownAgent): HeartbeatRequest => ({
  ...agent,
  observed_at: LONG_AGO,
  features: { push: true, metrics: false },
})

const SOMEBODY = "operator"

// A simulation keeps no audit.
const NO_ROW = AuditId.make("none")

/** The signature of an act in a simulation. */
export const simulatedSignature = (name = SOMEBODY): Signature => ({
  actor: name,
  via: "library",
  request_id: undefined,
  newAuditId: () => NO_ROW,
})

export const labelChecks = commandOf(function* (
  unit,
  agentId: AgentId,
  checks: ReadonlyArray<LabelledCheck>,
) {
  yield* load(unit, { agents: [agentId] })
  const agent = unit.agents.get(agentId)
  if (agent === undefined) return
  const refs = checksOf(
    agent,
    checks.map(({ check_id }) => check_id),
  )
  yield* load(unit, { rows: { check_label: refs, expectation: refs } })
  refs.forEach((ref, index) => labelCheck(unit, ref, checks[index]?.labels))
})
