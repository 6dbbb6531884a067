import type { BatchOutcome, CheckRecord, EventOutcome } from "../model/CheckRecord.ts"
import { CheckCursor, type CheckRef } from "../../kernel/model/CheckRef.ts"
import { recognise } from "../admission/agentKeys.ts"
import { isOfWatch, isPlace } from "../model/PlaceRecord.ts"
import type { FollowingPlaces } from "./followingPlaces.ts"
import { type AgentRecord, type CheckMove, recountChecks } from "../model/AgentRecord.ts"
import type { EventId, KeyHash } from "@tocsin/contract/formats/Identifiers"
import { commandOf, type Decision, loadRow, missingRows } from "../../kernel/unitOfWork/Decision.ts"
import type { RowRequest } from "../../kernel/unitOfWork/RowRequest.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { type IncidentRef, incidentRefOf } from "../model/IncidentRecord.ts"
import { Incidents } from "../incidents/Incidents.ts"
import type { MemberRef } from "../model/MemberRecord.ts"
import { reachableFrom } from "../liveness/agentStatus.ts"
import { heartbeatMember, resolveHeartbeatIncident } from "../deadAgents/heartbeatIncident.ts"
import {
  applyEvent,
  type BatchContext,
  type BatchInput,
  type CheckResult,
  hasNewHeadline,
} from "./applyEvent.ts"
import { repetitionsIn } from "./repetitionsIn.ts"

/** Decides a batch of check results: in array order, all or nothing (docs/rules.md#events). */
export const applyBatch = commandOf(function* (
  unit,
  input: BatchInput & { readonly key_hash: KeyHash; readonly places?: FollowingPlaces | undefined },
): Decision<BatchOutcome> {
  const { agent_id, events } = input.request
  const check_ids = events.map((event) => event.check_id)
  const found = yield* recognise(unit, { agent_id, key_hash: input.key_hash, check_ids })
  if (found.standing === "blocked") return { outcome: "agent_blocked" }
  if (found.standing !== "accepted") return { outcome: "agent_not_accepted" }
  const { places } = input
  if (
    places === undefined ||
    !check_ids.some(isOfWatch) ||
    !isPlace(yield* loadRow(unit, "place", agent_id), unit.now)
  )
    return { outcome: "applied", events: yield* applyEvents(unit, found.agent, input) }
  yield* places.prepare(unit, check_ids.filter(isOfWatch))
  const outcomes = yield* applyEvents(unit, found.agent, input, true)
  const results = events.flatMap((event, n) => {
    const outcome = outcomes[n]
    return outcome === undefined || !isOfWatch(event.check_id) ? [] : [{ event, outcome }]
  })
  yield* places.follow(unit, { place: agent_id, results })
  return { outcome: "applied", events: outcomes }
})

/**
 * Applies results that the server dates to an accepted agent: none is late, also after its clock was ahead. Needs the
 * agent; its checks are best loaded with it.
 */
export function* applyResults(unit: UnitOfWork, accepted: AgentRecord, input: BatchInput) {
  const { agent_id, registration_id } = accepted
  for (const { check_id, observed_at } of input.request.events) {
    const check = unit.checks.get({ agent_id, registration_id, check_id })
    if (check !== undefined && check.last_observed_at > observed_at)
      unit.checks.put({ ...check, last_observed_at: observed_at })
  }
  return yield* applyEvents(unit, accepted, input)
}

function* applyEvents(unit: UnitOfWork, accepted: AgentRecord, input: BatchInput, isOfPlace = false) {
  const { now } = unit
  const { agent_id, events } = input.request
  const context = {
    unit,
    input,
    agent: accepted,
    isPlace: isOfPlace,
    incidents: new Incidents(unit, input.incidents),
    isRepeated: repetitionsIn(events),
  }
  const needed = likelyNeeded(context)
  if (needed !== undefined) yield needed
  const reachable_from = reachableFrom(accepted, now, input.incidents.staleAfter)
  const seen = { ...accepted, last_seen_at: now, reachable_from }
  const agent = yield* resolveHeartbeatIncident(unit, seen, input.incidents)
  // An agent that reports is not stale: as a parent, it would hold what it reports.
  if (input.incidents.policy().dependencies?.takesStale === true) unit.putAgent(agent)
  const outcomes: Array<EventOutcome> = []
  const moves: Array<CheckMove> = []
  const { registration_id } = agent
  const names = new CheckCursor(agent)
  for (const event of events) {
    const check = unit.checks.get(names.at(event.check_id))
    const applied = applyEvent(context, check, event)
    const outcome = typeof applied === "string" ? applied : yield* applied
    outcomes.push(outcome)
    // Most results repeat the last one: they are not counted otherwise.
    if (outcome === "unchanged" && check?.withdrawn_at === undefined) continue
    const after = unit.checks.get(names.at(event.check_id))
    const move = { from: countedAs(check), to: countedAs(after) }
    if (move.from !== move.to) moves.push(move)
    // Another server may have deleted a former check of this name, whose numbers are in memory here.
    if (check === undefined) unit.measure({ agent_id, registration_id, check_id: event.check_id })
  }
  unit.putAgent(recountChecks(agent, moves))
  const measured = input.isGathered === false ? [] : inOrderOf(events, outcomes)
  if (measured.length > 0) unit.measure({ agent_id, registration_id, received_at: now, events: measured })
  return outcomes
}

const isInOrder = (outcome: EventOutcome | undefined) => outcome === "changed" || outcome === "unchanged"

/** Mostly all of them: then no other list is made. */
const inOrderOf = (events: ReadonlyArray<CheckResult>, outcomes: ReadonlyArray<EventOutcome>) =>
  outcomes.every(isInOrder) ? events : events.filter((_, n) => isInOrder(outcomes[n]))

const countedAs = (check: CheckRecord | undefined) =>
  check?.withdrawn_at === undefined ? check?.status : undefined

/**
 * The rows that the events will most likely need, loaded at once so that a networked storage needs
 * one round trip. A wrong guess costs a round trip, never a wrong decision: {@link applyEvent} asks
 * for missing rows.
 */
const likelyNeeded = ({ unit, agent, input }: BatchContext): RowRequest | undefined => {
  const { agent_id, events } = input.request
  const { registration_id } = agent
  const event_ids: Array<EventId> = []
  const members: Array<MemberRef> = []
  const openIncidents: Array<IncidentRef> = []
  const expectations: Array<CheckRef> = []
  const labels: Array<CheckRef> = []
  const listed: Array<CheckRef> = []
  const { freshness, routesReadAgents } = input.incidents.policy()
  const names = new CheckCursor(agent)
  for (const event of events) {
    const check = unit.checks.get(names.at(event.check_id))
    if (check !== undefined && event.observed_at < check.last_observed_at) continue
    if (check?.overdue_incident_id !== undefined) {
      members.push({ incident_id: check.overdue_incident_id, agent_id, check_id: event.check_id })
    }
    const isStatusChange = check?.status !== event.status
    const isChange = isStatusChange || check.exit_code !== event.exit_code
    // Most results: an unchanged one of a check in no incident touches no row but its check's.
    if (!isChange && check.overdue_incident_id === undefined && check.incident_id === undefined) continue
    const isRouted = routesReadAgents && isStatusChange && event.status !== "ok"
    const mayBeOverdue = check === undefined || check.overdue_incident_id !== undefined
    const ref = { agent_id, registration_id, check_id: event.check_id }
    if (mayBeOverdue) expectations.push(ref)
    if (check === undefined && agent.listed_as_of !== undefined) listed.push(ref)
    if (isRouted || (mayBeOverdue && freshness.count > 0)) labels.push(ref)
    if (isChange && event.event_id !== undefined) event_ids.push(event.event_id)
    if (check?.incident_id !== undefined && (isStatusChange || hasNewHeadline(check, event))) {
      members.push({ incident_id: check.incident_id, agent_id, check_id: event.check_id })
    }
    if (isStatusChange && event.status !== "ok") {
      openIncidents.push(incidentRefOf(agent_id, event, input.incidents.sha256))
    }
  }
  const heartbeat = heartbeatMember(agent)
  if (heartbeat !== undefined) members.push(heartbeat)
  if (event_ids.length === 0 && members.length === 0) return undefined
  const incidents = members.map((member) => member.incident_id)
  return missingRows(unit, {
    history: { agent_id, event_ids },
    incidents,
    rows: { check_label: labels, expectation: expectations, incident_member: members, listed_check: listed },
    openIncidents,
  })
}
