import { Duration } from "effect"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { CheckName } from "../model/CheckRecord.ts"
import type { OutboxId } from "@tocsin/contract/Identifiers"
import type { Labels } from "@tocsin/contract/Labels"
import type { Instant } from "@tocsin/contract/Instant"
import type { FiringCause, NotificationType, NotifierName } from "@tocsin/contract/Status"
import { move } from "@tocsin/contract/TransitionTable"
import type { Decision } from "../engine/unitOfWork/Decision.ts"
import { load } from "../engine/unitOfWork/load.ts"
import type { UnitOfWork } from "../engine/unitOfWork/UnitOfWork.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { firingHolds } from "../holds/firingHolds.ts"
import { matchedFacts } from "../holds/gatherHolds.ts"
import { coalesced, heldItem, waitingUnderHolds } from "../holds/heldItems.ts"
import { HEARTBEAT, SEVERITY_RANK } from "../model/MemberRecord.ts"
import type { Policy } from "../policy/compilePolicy.ts"
import type { Routing } from "../policy/routing.ts"
import { endedItem, type OutboxRecord, wasAttempted } from "../model/OutboxRecord.ts"
import { OutboxTransitions } from "../model/OutboxTransitions.ts"
import { mayArrive } from "./retrySchedule.ts"

/** What enqueueing needs besides rows. */
export interface EnqueueOptions {
  readonly policy: Policy
  readonly newOutboxId: (now: Instant) => OutboxId
  readonly now: Instant
  /** Notifies receivers that already know of this severity too. */
  readonly again?: true
}

interface NewItem {
  readonly incident: IncidentRecord
  readonly receiver: NotifierName
  /** The receiver's kind. */
  readonly notifier: NotifierName
  readonly event_type: NotificationType
  readonly cause?: FiringCause
  /** How long the incident must have been open before this is sent. */
  readonly after?: Duration.Duration
}

const enqueue = (unit: UnitOfWork, notification: NewItem, options: EnqueueOptions): void => {
  const { incident, receiver, notifier, event_type, cause, after = Duration.zero } = notification
  const { now } = options
  const item: OutboxRecord = {
    id: options.newOutboxId(now),
    receiver,
    notifier,
    state: move(OutboxTransitions, "absent", "enqueued"),
    incident_id: incident.id,
    event_type,
    cause,
    incident_seq: incident.member_changes,
    severity: incident.severity,
    summary: incident.summary,
    attempts: 0,
    first_attempted_at: undefined,
    next_attempt_at: now,
    next_evaluation_at: undefined,
    released_at: undefined,
    last_error: undefined,
    leased_until: undefined,
    created_at: now,
    age_starts_at: now,
    updated_at: now,
  }
  // A claim sees what covers the incident.
  const holds = firingHolds(incident, item, { after, covering: [], grace: undefined }, now)
  unit.outbox.put(holds.length === 0 ? item : heldItem(item, holds, now))
}

const isFiring = (item: OutboxRecord): boolean => item.event_type === "firing" && item.state !== "discarded"

/** Enqueues a firing for one receiver. */
export const enqueueFiring = (
  unit: UnitOfWork,
  incident: IncidentRecord,
  firing: Required<Pick<NewItem, "receiver" | "cause">> & Pick<NewItem, "after">,
  options: EnqueueOptions,
): void => {
  const notifier = options.policy.receivers.get(firing.receiver)?.kind ?? firing.receiver
  enqueue(unit, { ...firing, incident, notifier, event_type: "firing" }, options)
}

/** The firings of an incident that are not discarded. */
export const firingsOf = (
  unit: UnitOfWork,
  incident: Pick<IncidentRecord, "id">,
): ReadonlyArray<OutboxRecord> => unit.outbox.group(incident.id).filter(isFiring)

/** A claim counts the openings of the key, and holds longer if it must. */
const leastAfter = (after: Routing["after"]): Duration.Duration =>
  Duration.min(
    after(() => 0),
    after(() => Infinity),
  )

/** Reads the labels of a check; the heartbeat of an agent has none. */
function* labelsOfCheck(
  unit: UnitOfWork,
  { agent_id, registration_id }: AgentRecord,
  { check_id }: CheckName,
): Decision<Labels | undefined> {
  if (check_id === HEARTBEAT) return undefined
  yield* load(unit, { expectations: { agent_id, check_ids: [check_id] } })
  return unit.expectations.get({ agent_id, registration_id, check_id })?.labels
}

/**
 * Enqueues a firing for each receiver on the routes of `member`, which joined or worsened, that has
 * none of this incident at its present severity or a higher one. A receiver of a later step must have
 * a firing of it already, unless everyone is notified `again`. Discarded rows do not count. Its held
 * firings are discarded (docs/rules.md#outbox, docs/rules.md#routes).
 */
export function* enqueueFirings(
  unit: UnitOfWork,
  incident: IncidentRecord,
  member: CheckName,
  options: EnqueueOptions,
): Decision<void> {
  const firings = firingsOf(unit, incident)
  const agent = options.policy.hasRoutes ? unit.agents.get(member.agent_id) : undefined
  const labels = agent && options.policy.routesByLabel ? yield* labelsOfCheck(unit, agent, member) : undefined
  const { after, delays } = options.policy.route(matchedFacts(incident, member, agent, labels))
  for (const [receiver, delay] of delays) {
    const told = firings.filter((item) => item.receiver === receiver)
    if (!Duration.isZero(delay) && told.length === 0 && options.again === undefined) continue
    const isNotified = told.some((item) => SEVERITY_RANK[item.severity] >= SEVERITY_RANK[incident.severity])
    if (isNotified && options.again === undefined) continue
    // This firing takes the place of held ones, so that it may be the first that the receiver gets.
    const held = waitingUnderHolds(told, receiver)
    const isFirst = options.again === undefined && told.length === held.length
    const cause = isFirst ? "opened" : "worsened"
    enqueueFiring(unit, incident, { receiver, cause, after: leastAfter(after) }, options)
    // This firing states what the held ones would have, and must not wait behind them.
    for (const item of held) unit.outbox.put(coalesced(item, options.now))
  }
}

/** Receivers, each with its kind. */
type Notified = Map<OutboxRecord["receiver"], OutboxRecord["notifier"]>

/** Enqueues a resolved for each receiver, in an order that does not depend on the storage's. */
const enqueueResolved = (
  unit: UnitOfWork,
  incident: IncidentRecord,
  told: Notified,
  options: EnqueueOptions,
): void => {
  for (const [receiver, notifier] of Array.from(told).toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    enqueue(unit, { incident, receiver, notifier, event_type: "resolved" }, options)
  }
}

/**
 * Settles the outbox of an incident that resolved by an event. Discards firings never attempted.
 * Enqueues a resolved where a firing was attempted and not refused, unless the event is silent.
 */
export const closeResolved = (
  unit: UnitOfWork,
  incident: IncidentRecord,
  notify: boolean,
  options: EnqueueOptions,
): void => {
  const told: Notified = new Map()
  for (const item of firingsOf(unit, incident)) {
    if (mayArrive(item)) told.set(item.receiver, item.notifier)
    if (item.state !== "pending" || wasAttempted(item)) continue
    unit.outbox.put(endedItem(item, move(OutboxTransitions, item.state, "incident_resolved"), options.now))
  }
  if (notify) enqueueResolved(unit, incident, told, options)
}

/**
 * Settles the outbox of an incident whose last member's check or agent was deleted, or its agent
 * blocked. Discards unsent firings. Enqueues a resolved where one was sent or is being sent
 * (docs/rules.md#deleting-an-agent).
 */
export const closeAgentGone = (unit: UnitOfWork, incident: IncidentRecord, options: EnqueueOptions): void => {
  const sent: Notified = new Map()
  for (const item of firingsOf(unit, incident)) {
    if (item.state === "sent" || item.state === "sending") sent.set(item.receiver, item.notifier)
    if (item.state !== "pending" && item.state !== "retry") continue
    unit.outbox.put(endedItem(item, move(OutboxTransitions, item.state, "agent_gone"), options.now))
  }
  enqueueResolved(unit, incident, sent, options)
}

/**
 * Discards the resolved behind a firing that its receiver refused, unless another firing may have
 * arrived. Needs the incident's outbox items.
 */
export const discardUnheard = (unit: UnitOfWork, refused: OutboxRecord, now: Instant): void => {
  const { incident_id, receiver } = refused
  const isNotified = firingsOf(unit, { id: incident_id }).some(
    (item) => item.receiver === receiver && mayArrive(item),
  )
  if (refused.event_type !== "firing" || isNotified) return
  for (const item of unit.outbox.group(incident_id)) {
    if (item.receiver !== receiver || item.event_type !== "resolved" || item.state !== "pending") continue
    unit.outbox.put(endedItem(item, move(OutboxTransitions, item.state, "firing_refused"), now))
  }
}
