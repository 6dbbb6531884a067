import type { AgentRecord } from "../model/AgentRecord.ts"
import type { EventId, IncidentId } from "@tocsin/contract/formats/Identifiers"
import type { CheckResultEvent, EventBatchRequest } from "@tocsin/contract/v1/Requests"
import { headlineOf } from "@tocsin/contract/formats/headline"
import { type Decision, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { bringBack } from "../overdue/listedChecks.ts"
import { followPolicy } from "../overdue/followPolicy.ts"
import { isOfPlace } from "../model/PlaceRecord.ts"
import { leaveAlone } from "./withdrawChecks.ts"
import { endingOf, endOverdue } from "../overdue/changeExpectation.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { incidentRefOf } from "../model/IncidentRecord.ts"
import type { Incidents } from "../incidents/Incidents.ts"
import { severityOf } from "../model/MemberRecord.ts"
import { seenWith } from "./seenWith.ts"
import {
  type CheckRecord,
  checkTransition,
  type CheckTransition,
  type EventOutcome,
} from "../model/CheckRecord.ts"

/** A result. One of the service has no ID before its row is stored: no other can have the same. */
export interface CheckResult extends Omit<CheckResultEvent, "event_id"> {
  readonly event_id: EventId | undefined
}

/** Whether an event changes its check's headline, which incidents show. */
export const hasNewHeadline = (check: CheckRecord, event: CheckResult): boolean =>
  event.output !== check.summary && headlineOf(event.output) !== headlineOf(check.summary)

export interface BatchInput {
  readonly request: Pick<EventBatchRequest, "agent_id"> & { readonly events: ReadonlyArray<CheckResult> }
  readonly incidents: IncidentOptions
  /** Whether its numbers are kept; they are unless given. */
  readonly isGathered?: boolean
  /** The operator whose act these results are. */
  readonly resolvedBy?: string
}

/** The context that all events of one batch share. */
export interface BatchContext {
  readonly unit: UnitOfWork
  readonly input: BatchInput
  /** The agent before the batch. */
  readonly agent: AgentRecord
  readonly incidents: Incidents
  /** Whether an earlier event of the batch has this ID. Asked once for each event, in order. */
  readonly isRepeated: (eventId: EventId) => boolean
  /** Of a result that was observed before the newest list, which lacks its check. */
  readonly old?: { readonly isWithdrawn: boolean } | undefined
  /** Whether the agent is a place. */
  readonly isPlace?: boolean
}

/**
 * Decides one event on the state of its check. Returns a decision only if more rows may be needed:
 * most events change nothing, and a generator would double their cost.
 */
export const applyEvent = (
  context: BatchContext,
  check: CheckRecord | undefined,
  event: CheckResult,
): EventOutcome | Decision<EventOutcome> => {
  const { event_id } = event
  if (event_id !== undefined && context.isRepeated(event_id)) return "known_event"
  if (check === undefined)
    return context.agent.listed_as_of === undefined
      ? endingOverdue(context, event, change(context, check, event))
      : ofUnlisted(context, check, event)
  if (event.observed_at < check.last_observed_at) return "late"
  // Independent of `observed_at`: after a clock reset, the check still knows the events it saw
  // before (docs/rules.md#clocks-in-the-future).
  if (event_id !== undefined && check.seen_event_ids.includes(event_id)) return "known_event"
  return isBefore(context.agent, event) || check.withdrawn_at !== undefined
    ? ofUnlisted(context, check, event)
    : follow(context, check, event)
}

/** Whether a result was observed before the newest list of its agent, which may lack its check. */
const isBefore = ({ listed_as_of }: AgentRecord, { observed_at }: CheckResult): boolean =>
  listed_as_of !== undefined && observed_at < listed_as_of

const follow = (
  context: BatchContext,
  check: CheckRecord,
  event: CheckResult,
): EventOutcome | Decision<EventOutcome> => {
  const isSame =
    check.status === event.status &&
    check.exit_code === event.exit_code &&
    check.is_of_place === isOfPlace(context, event)
  const outcome =
    isSame && (context.old !== undefined || !isOutside(check))
      ? repeat(context, check, event)
      : change(context, check, event)
  return check.overdue_incident_id === undefined ? outcome : endingOverdue(context, event, outcome)
}

/** Whether a check is not ok and in no incident: results of before a list that lacks it open none. */
const isOutside = (check: CheckRecord): boolean =>
  check.status !== "ok" && check.incident_id === undefined && check.is_of_place === undefined

/** A result of a check that the newest list may lack: an older one opens nothing, a later one brings it back. */
function* ofUnlisted(
  context: BatchContext,
  check: CheckRecord | undefined,
  event: CheckResult,
): Decision<EventOutcome> {
  const { agent, unit } = context
  const { agent_id, registration_id } = agent
  const listed = yield* loadRow(unit, "listed_check", { agent_id, registration_id, check_id: event.check_id })
  const isOld = isBefore(agent, event) && listed !== undefined && listed.state !== "listed"
  // One that never reported has no row that says when it was withdrawn.
  if (!isOld && listed?.state === "withdrawn") bringBack(unit, listed, "reported")
  const old = isOld ? { isWithdrawn: listed.state === "withdrawn" } : undefined
  const outcome =
    check === undefined
      ? endingOverdue(context, event, change({ ...context, old }, check, event))
      : follow({ ...context, old }, isOld ? check : { ...check, withdrawn_at: undefined }, event)
  return typeof outcome === "string" ? outcome : yield* outcome
}

/**
 * The outcome of the first event of a check, or of one of a late check: from then on the check
 * is in time, and expected if a rule of the policy says so (docs/rules.md#expectations).
 */
function* endingOverdue(
  { agent, incidents, input }: BatchContext,
  { check_id }: CheckResult,
  decided: EventOutcome | Decision<EventOutcome>,
): Decision<EventOutcome> {
  const outcome = typeof decided === "string" ? decided : yield* decided
  if (outcome === "known_event") return outcome
  const { agent_id, registration_id } = agent
  yield* endOverdue(incidents, { agent_id, registration_id, check_id }, input.resolvedBy)
  if (incidents.options.policy().freshness.count > 0) yield* followPolicy(incidents, { agent, check_id })
  return outcome
}

/** An identical result in order: stores no row, but refreshes the check and its incident (docs/rules.md#events). */
const repeat = (
  context: BatchContext,
  check: CheckRecord,
  event: CheckResult,
): "unchanged" | Decision<"unchanged"> => {
  context.unit.checks.put({
    ...check,
    last_observed_at: event.observed_at,
    received_at: context.unit.now,
    summary: event.output,
    seen_event_ids: seenWith(check, event),
  })
  return isShown(check, event) ? repeatShown(context, check, event) : "unchanged"
}

const isShown = (
  check: CheckRecord,
  event: CheckResult,
): check is CheckRecord & { readonly incident_id: IncidentId } =>
  check.incident_id !== undefined && hasNewHeadline(check, event)

function* repeatShown(
  context: BatchContext,
  check: CheckRecord & { readonly incident_id: IncidentId },
  event: CheckResult,
): Decision<"unchanged"> {
  yield* context.incidents.resummarize(memberOf(check), headlineOf(event.output))
  return "unchanged"
}

const memberOf = (check: CheckRecord & { readonly incident_id: IncidentId }) => ({
  incident_id: check.incident_id,
  agent_id: check.agent_id,
  check_id: check.check_id,
})

/**
 * A result with another status or exit code: stores a row unless the history has this event.
 * Incidents follow a change of status.
 */
function* change(context: BatchContext, check: CheckRecord | undefined, event: CheckResult) {
  const { unit, agent, input } = context
  const { agent_id, registration_id } = agent
  const { check_id, observed_at } = event
  if (event.event_id !== undefined) {
    if (!unit.knownEvents.isLoaded(registration_id, event.event_id))
      yield { history: { agent_id, event_ids: [event.event_id] } }
    if (unit.knownEvents.has(registration_id, event.event_id)) return "known_event"
  }
  const event_id = event.event_id ?? input.incidents.newEventId(unit.now)
  unit.store({ ...event, event_id, agent_id, registration_id, received_at: unit.now })
  const transition = checkTransition(check?.status ?? "absent", event.status)
  const isStatusChange = check?.status !== event.status
  if (check !== undefined && !isStatusChange && isShown(check, event))
    yield* repeatShown(context, check, event)
  const is_of_place = isOfPlace(context, event)
  const incident_id = is_of_place
    ? yield* leaveAlone(context, check)
    : yield* incidentAfter(context, transition, { check, event })
  unit.checks.put({
    agent_id,
    registration_id,
    check_id,
    status: transition.to,
    exit_code: event.exit_code,
    last_observed_at: observed_at,
    received_at: unit.now,
    incident_key: isStatusChange ? event.incident_key : check?.incident_key,
    summary: event.output,
    seen_event_ids: seenWith(check, { event_id, observed_at }),
    incident_id,
    is_of_place,
    overdue_incident_id: is_of_place ? undefined : check?.overdue_incident_id,
    declaration: check?.declaration,
    withdrawn_at: check === undefined && context.old?.isWithdrawn === true ? unit.now : check?.withdrawn_at,
  })
  return "changed"
}

/** The incident of a check after a stored change. */
function* incidentAfter(
  context: BatchContext,
  transition: CheckTransition,
  { check, event }: Followed & { readonly check: CheckRecord | undefined },
): Decision<IncidentId | undefined> {
  const current = check?.incident_id
  const severity = severityOf(event.status)
  if (context.old !== undefined && severity !== undefined) {
    if (current === undefined || transition.membership === "none") return current
    const { agent_id } = context.agent
    const { check_id, notifications_enabled: notify } = event
    const member = { agent_id, check_id, severity, summary: headlineOf(event.output) }
    yield* context.incidents.change(current, { member, notify })
    return current
  }
  const joins = check !== undefined && isOutside(check) && severity !== undefined
  return yield* followStatus(context, joins ? { membership: "joins" } : transition, { check, event })
}

interface FollowContext extends Pick<BatchContext, "unit" | "incidents"> {
  readonly input: { readonly request: Pick<EventBatchRequest, "agent_id">; readonly resolvedBy?: string }
}

interface Followed {
  readonly check: Pick<CheckRecord, "incident_id"> | undefined
  readonly event: CheckResult
}

/** Moves a check between incidents after a change of its status. Returns its incident, if any. */
export function* followStatus(
  context: FollowContext,
  { membership }: Pick<CheckTransition, "membership">,
  { check, event }: Followed,
): Decision<IncidentId | undefined> {
  const { unit, input, incidents } = context
  const { agent_id } = input.request
  const { check_id, notifications_enabled: notify } = event
  const severity = severityOf(event.status)
  const current = check?.incident_id
  if (membership === "none") return current
  if (severity === undefined) {
    if (current !== undefined) {
      const resolution = endingOf(headlineOf(event.output), input.resolvedBy)
      yield* incidents.leave(
        { incident_id: current, agent_id, check_id },
        { by: "event", notify, resolution },
      )
    }
    return undefined
  }
  const ref = incidentRefOf(agent_id, event, incidents.options.sha256)
  const memberChange = { member: { agent_id, check_id, severity, summary: headlineOf(event.output) }, notify }
  if (current !== undefined) {
    if (!unit.incidents.isLoaded(current)) yield { incidents: [current] }
    const incident = unit.incidents.get(current)
    if (incident?.kind === ref.kind && incident.incident_key === ref.incident_key) {
      yield* incidents.change(current, memberChange)
      return current
    }
    const resolution = { reason: "moved", to: ref.incident_key } as const
    yield* incidents.leave({ incident_id: current, agent_id, check_id }, { by: "event", notify, resolution })
  }
  return yield* incidents.join(ref, memberChange)
}
