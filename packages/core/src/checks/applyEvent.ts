import type { CheckResultEvent } from "../contract/EventBatchRequest.ts"
import type { EventId, IncidentId, RegistrationId } from "../contract/Identifiers.ts"
import type { Instant } from "../contract/Instant.ts"
import type { CheckStatus } from "../contract/Status.ts"
import { incidentRefOf } from "../incidents/incidentRefOf.ts"
import { Incidents } from "../incidents/Incidents.ts"
import { severityOf } from "../incidents/Severity.ts"
import { firstLine } from "../notifications/firstLine.ts"
import type { Decision } from "../workspace/Decision.ts"
import { ensure } from "../workspace/ensure.ts"
import type { Workspace } from "../workspace/Workspace.ts"
import type { BatchInput } from "./applyBatch.ts"
import type { CheckRecord } from "./CheckRecord.ts"
import { checkTransition } from "./CheckTransitions.ts"

/** What became of one event: `changed` is stored and counted as accepted, all others as deduplicated (decisions §6). */
export type EventOutcome = "changed" | "unchanged" | "late" | "known_event"

/** {@link EventOutcome}, with the status before a change; `undefined` for a check's first result. */
export type AppliedEvent =
  | { readonly outcome: "changed"; readonly from: CheckStatus | undefined }
  | { readonly outcome: Exclude<EventOutcome, "changed"> }

/** What the events of one batch share. */
export interface BatchContext {
  readonly workspace: Workspace
  readonly now: Instant
  readonly input: BatchInput
  readonly registration_id: RegistrationId
  readonly seenInBatch: Set<string>
}

/**
 * How many event ids are kept beside a check for one `observed_at`. A sender whose clock stands still would grow the row
 * without end; five full batches of one check at one instant are far beyond what a working sender does.
 */
const SEEN_EVENT_IDS_KEPT = 1_000

/** Decides one event of a batch. */
export function* applyEvent(context: BatchContext, event: CheckResultEvent): Decision<AppliedEvent> {
  const { workspace, input, registration_id, seenInBatch } = context
  const { agent_id } = input.request
  const check = workspace.checks.get({ agent_id, registration_id, check_id: event.check_id })
  const isRepeated = seenInBatch.has(event.event_id)
  seenInBatch.add(event.event_id)
  if (isRepeated) return { outcome: "known_event" }
  if (check !== undefined) {
    if (event.observed_at < check.last_observed_at) return { outcome: "late" }
    // Whatever time it names: after a reset of its clock a check still knows what it saw before (decisions §6).
    if (check.seen_event_ids.includes(event.event_id)) return { outcome: "known_event" }
    if (check.status === event.status && check.exit_code === event.exit_code) {
      yield* repeat(context, check, event)
      return { outcome: "unchanged" }
    }
  }
  yield* ensure(workspace, { history: { agent_id, event_ids: [event.event_id] } })
  if (workspace.knownEvents.has(registration_id, event.event_id)) return { outcome: "known_event" }
  yield* change(context, check, event)
  return { outcome: "changed", from: check?.status }
}

const seenWith = (check: CheckRecord | undefined, event: CheckResultEvent): ReadonlyArray<EventId> =>
  check?.last_observed_at === event.observed_at
    ? [...check.seen_event_ids, event.event_id].slice(-SEEN_EVENT_IDS_KEPT)
    : [event.event_id]

/** An in-order identical result: stores no row, yet refreshes the check and what its incident shows (decisions §6, §7). */
function* repeat(context: BatchContext, check: CheckRecord, event: CheckResultEvent): Decision<void> {
  context.workspace.checks.put({
    ...check,
    last_observed_at: event.observed_at,
    received_at: context.now,
    summary: event.output,
    seen_event_ids: seenWith(check, event),
  })
  yield* resummarize(context, check, event)
}

function* resummarize(context: BatchContext, check: CheckRecord, event: CheckResultEvent): Decision<void> {
  if (check.incident_id === undefined) return
  const summary = firstLine(event.output)
  if (summary === firstLine(check.summary)) return
  const { workspace, now, input } = context
  const member = { incident_id: check.incident_id, agent_id: check.agent_id, check_id: check.check_id }
  yield* new Incidents(workspace, now, input.incidents).resummarize(member, summary)
}

/** A result that differs in (status, exit_code): stores a row; incidents follow where the status differs. */
function* change(
  context: BatchContext,
  check: CheckRecord | undefined,
  event: CheckResultEvent,
): Decision<void> {
  const { workspace, now, input, registration_id } = context
  const { agent_id } = input.request
  workspace.store({ ...event, agent_id, registration_id, received_at: now })
  const isStatusChange = check?.status !== event.status
  if (check !== undefined && !isStatusChange) yield* resummarize(context, check, event)
  const incident_id = isStatusChange ? yield* follow(context, check, event) : check?.incident_id
  workspace.checks.put({
    agent_id,
    registration_id,
    check_id: event.check_id,
    status: checkTransition(check?.status ?? "absent", event.status).to,
    exit_code: event.exit_code,
    last_observed_at: event.observed_at,
    received_at: now,
    incident_key: isStatusChange ? event.incident_key : check?.incident_key,
    summary: event.output,
    seen_event_ids: seenWith(check, event),
    incident_id,
  })
}

/** Moves a check between incidents after a change of its status. Returns the incident that it is a member of now. */
function* follow(
  context: BatchContext,
  check: CheckRecord | undefined,
  event: CheckResultEvent,
): Decision<IncidentId | undefined> {
  const { workspace, now, input } = context
  const { agent_id } = input.request
  const { check_id, notifications_enabled: notify } = event
  const { membership } = checkTransition(check?.status ?? "absent", event.status)
  const severity = severityOf(event.status)
  const incidents = new Incidents(workspace, now, input.incidents)
  const current = check?.incident_id
  const leave = function* (incident_id: IncidentId) {
    yield* incidents.leave({ incident_id, agent_id, check_id }, { by: "event", notify })
  }
  if (membership === "none") return current
  if (severity === undefined) {
    if (current !== undefined) yield* leave(current)
    return undefined
  }
  const ref = incidentRefOf({ ...event, agent_id }, input.sha256)
  const memberChange = { member: { agent_id, check_id, severity, summary: firstLine(event.output) }, notify }
  if (current !== undefined) {
    yield* ensure(workspace, { incidents: [current] })
    const incident = workspace.incidents.get(current)
    if (incident?.kind === ref.kind && incident.incident_key === ref.incident_key) {
      yield* incidents.change(current, memberChange)
      return current
    }
    yield* leave(current)
  }
  return yield* incidents.join(ref, memberChange)
}
