import type { CheckResultEvent } from "../contract/EventBatchRequest.ts"
import type { IncidentId } from "../contract/Identifiers.ts"
import { incidentRefOf } from "../incidents/incidentRefOf.ts"
import { severityOf } from "../incidents/Severity.ts"
import { firstLine } from "../notifications/firstLine.ts"
import type { Decision } from "../workspace/Decision.ts"
import type { BatchContext } from "./applyEvent.ts"
import type { CheckRecord } from "./CheckRecord.ts"
import type { CheckTransition } from "./CheckTransitions.ts"

/** Moves a check between incidents after a change of its status. Returns the incident that it is a member of now. */
export function* followStatus(
  context: BatchContext,
  { membership }: CheckTransition,
  { check, event }: { readonly check: CheckRecord | undefined; readonly event: CheckResultEvent },
): Decision<IncidentId | undefined> {
  const { workspace, input, incidents } = context
  const { agent_id } = input.request
  const { check_id, notifications_enabled: notify } = event
  const severity = severityOf(event.status)
  const current = check?.incident_id
  if (membership === "none") return current
  if (severity === undefined) {
    if (current !== undefined)
      yield* incidents.leave({ incident_id: current, agent_id, check_id }, { by: "event", notify })
    return undefined
  }
  const ref = incidentRefOf(agent_id, event, input.sha256)
  const memberChange = { member: { agent_id, check_id, severity, summary: firstLine(event.output) }, notify }
  if (current !== undefined) {
    if (!workspace.incidents.isLoaded(current)) yield { incidents: [current] }
    const incident = workspace.incidents.get(current)
    if (incident?.kind === ref.kind && incident.incident_key === ref.incident_key) {
      yield* incidents.change(current, memberChange)
      return current
    }
    yield* incidents.leave({ incident_id: current, agent_id, check_id }, { by: "event", notify })
  }
  return yield* incidents.join(ref, memberChange)
}
