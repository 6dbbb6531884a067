import type { ExpectedIncident } from "@tocsin/contract/overdue/Expectations"
import { type AgentId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { load, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { Incidents } from "../incidents/Incidents.ts"
import type { CheckName } from "../../kernel/model/CheckRef.ts"
import { type ExpectationRecord, ExpectationTransitions } from "../model/ExpectationRecord.ts"
import { automaticRef, type IncidentRef } from "../model/IncidentRecord.ts"
import type { Integration } from "@tocsin/contract/integrations/Integrations"

const OVERDUE = "@overdue"

/** The incident of an agent's late checks; no key of an event meets it. */
export const overdueRef = (agentId: AgentId): IncidentRef => ({
  kind: "automatic",
  incident_key: IncidentKey.make(`${agentId}/${OVERDUE}`),
})

/** The incident of one overdue check; no key of an event meets it. */
export const ownOverdueRef = (
  { agent_id, check_id }: CheckName,
  sha256: (text: string) => string,
): IncidentRef => automaticRef(`${agent_id}/${check_id}/${OVERDUE}`, sha256)

type OfIntegration = Pick<Integration, "kind" | "options"> | undefined

/** Whether a check has an incident of its own while it is late, by what its expectation and integration say. */
export const incidentOf = (
  { terms }: Pick<ExpectationRecord, "terms">,
  integration: OfIntegration,
): ExpectedIncident => {
  const isOfJobs = ["ping", "push", "sentry"].includes(integration?.kind ?? "")
  const usual = isOfJobs || terms.cron !== undefined ? "own" : "agent"
  return terms.incident ?? integration?.options.incident ?? usual
}

const FEWEST = 5

/**
 * Whether an agent's jobs seem to be cut off: since the first of the five checks that stand alone late and
 * were due last, no check with `own` has reported (docs/rules.md#jobs-cut-off).
 */
export const areCutOff = (
  alone: ReadonlyArray<Instant.Instant>,
  lastReport: Instant.Instant | undefined,
): boolean => {
  const first = alone.toSorted((a, b) => (a < b ? 1 : -1))[FEWEST - 1]
  return first !== undefined && (lastReport === undefined || lastReport < first)
}

/** Decides whether a check that is found late with `own` joins the incident of its agent all the same. */
function* joinsAgent(unit: UnitOfWork, found: ExpectationRecord, integration: OfIntegration) {
  const { agent_id, registration_id } = found
  yield* load(unit, { groups: { expectation: [found] } })
  const expected = unit.expectations.group(registration_id)
  const alone = expected.flatMap(({ alone_due_at }) => alone_due_at ?? [])
  if (alone.length < FEWEST) return false
  const own = expected.filter((each) => incidentOf(each, integration) === "own")
  yield* load(unit, { checks: { agent_id, check_ids: own.map(({ check_id }) => check_id) } })
  return areCutOff(alone, Instant.latest(own.map((each) => unit.checks.get(each)?.received_at)))
}

export interface FoundOverdue {
  readonly expectation: ExpectationRecord
  readonly due: Instant.Instant
  /** Says how late it is; in the incident of an agent, behind its name. */
  readonly text: string
}

/** A check is found overdue: it opens its own incident, or joins that of its agent's late checks. */
export function* becomeOverdue(incidents: Incidents, { due, expectation, text }: FoundOverdue) {
  const { unit } = incidents
  const { agent_id, check_id, terms } = expectation
  const { severity, notifications_enabled: notify } = terms
  const integration = yield* loadRow(unit, "integration", agent_id)
  const is_own = incidentOf(expectation, integration) === "own" || undefined
  const isAlone = is_own === true && !(yield* joinsAgent(unit, expectation, integration))
  const ref = isAlone ? ownOverdueRef(expectation, incidents.options.sha256) : overdueRef(agent_id)
  move(ExpectationTransitions, "expected", "found_overdue")
  const summary = isAlone ? `late: ${text}` : `late: ${check_id}: ${text}`
  const member = { agent_id, check_id, severity, summary, is_own }
  const incident_id = yield* incidents.join(ref, { member, notify, isLate: true })
  const alone_due_at = isAlone ? due : undefined
  unit.expectations.put({ ...expectation, next_evaluation_at: undefined, incident_id, alone_due_at })
  const check = unit.checks.get(expectation)
  if (check !== undefined) unit.checks.put({ ...check, overdue_incident_id: incident_id })
}
