import type { Duration } from "effect"
import type { OutboxId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Severity } from "@tocsin/contract/formats/Status"
import { move } from "@tocsin/contract/formats/TransitionTable"
import type { Decision } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { owedFirings } from "../firings/decideFirings.ts"
import type { NewFiring } from "../firings/FiringFacts.ts"
import { gatherHolds } from "../firings/gatherFacts.ts"
import { readOpenings } from "../firings/readOpenings.ts"
import { readOnCall } from "../firings/namedRotas.ts"
import { readLoudMembers, MOST_MEMBERS } from "../firings/loudMembers.ts"
import { type IncidentNaming, isFirst, nameReceivers } from "../firings/nameReceivers.ts"
import { heldItem, NO_HOLDS } from "../firings/Hold.ts"
import { worsenedFrom } from "../firings/reasons.ts"
import type { Naming } from "../policy/routing.ts"
import { hearsResolved, type Policy } from "../policy/compilePolicy.ts"
import {
  discarded,
  isBehind,
  isFiring,
  isFiringOrReplaced,
  isHeld,
  isReplaced,
  type OutboxRecord,
  OutboxTransitions,
  wasAttempted,
  wasSent,
} from "../model/OutboxRecord.ts"
import { mayArrive } from "./recordResults.ts"

export interface EnqueueOptions {
  readonly policy: Policy
  readonly staleAfter: Duration.Duration
  readonly newOutboxId: (now: Instant.Instant) => OutboxId
  readonly now: Instant.Instant
}

const enqueue = (
  unit: UnitOfWork,
  incident: IncidentRecord,
  notification: Pick<OutboxRecord, "event_type" | "notifier" | "receiver"> & Partial<NewFiring>,
  { newOutboxId, now }: EnqueueOptions,
): void => {
  const { receiver, notifier, event_type, cause } = notification
  const { holds = NO_HOLDS, must_send = false, is_backfill = false, repaired_by, rotas, why } = notification
  const item: OutboxRecord = {
    id: newOutboxId(now),
    receiver,
    notifier,
    state: move(OutboxTransitions, "absent", "enqueued"),
    incident_id: incident.id,
    event_type,
    cause,
    why,
    repaired_by,
    called_with: undefined,
    incident_seq: incident.member_changes,
    severity: incident.severity,
    summary: incident.summary,
    attempts: 0,
    first_attempted_at: undefined,
    next_attempt_at: now,
    holds: undefined,
    next_evaluation_at: undefined,
    must_send,
    is_backfill,
    rotas,
    recipients: undefined,
    released_at: undefined,
    last_error: undefined,
    discarded_because: undefined,
    leased_until: undefined,
    created_at: now,
    age_starts_at: now,
    updated_at: now,
  }
  putInOrder(unit, holds.inForce.length === 0 ? item : heldItem(item, holds, now), now)
}

/**
 * Puts an item. Unless it is held, earlier ones of its incident and receiver that wait for a moment are due too: it is
 * sent after them.
 */
export const putInOrder = (unit: UnitOfWork, item: OutboxRecord, now: Instant.Instant): void => {
  unit.outbox.put(item)
  if (isHeld(item)) return
  for (const other of unit.outbox.group(item.incident_id)) {
    const { next_attempt_at = now, state: before } = other
    const waits = before === "retry" || (before === "pending" && next_attempt_at > now)
    if (!waits || isReplaced(other) || !isBehind(item, other)) continue
    const state = move(OutboxTransitions, before, "followed")
    unit.outbox.put({ ...other, state, next_attempt_at: now, updated_at: now })
  }
}

export const enqueueFiring = (
  unit: UnitOfWork,
  incident: IncidentRecord,
  firing: NewFiring,
  options: EnqueueOptions,
): void => {
  const { receiver } = firing
  // One that this policy lacks has a row of its kind.
  const notifierBefore = () =>
    unit.outbox.group(incident.id).find((item) => item.receiver === receiver)?.notifier
  const notifier = options.policy.receivers.get(receiver)?.kind ?? notifierBefore() ?? receiver
  enqueue(unit, incident, { ...firing, notifier, event_type: "firing" }, options)
}

/** The firings of an incident that are not discarded. */
const firingsOf = (unit: UnitOfWork, incident: Pick<IncidentRecord, "id">): ReadonlyArray<OutboxRecord> =>
  unit.outbox.group(incident.id).filter(isFiring)

/**
 * Enqueues the firings that an event of an incident makes owed, in its transaction, under the holds that are in force
 * now. Those that only later steps name are left to the evaluation, also when they are due (docs/rules.md#firings).
 */
export function* enqueueOwed(
  unit: UnitOfWork,
  incident: IncidentRecord,
  {
    isLoud,
    toAll,
    was,
  }: { readonly isLoud: boolean; readonly toAll: boolean; readonly was: Severity | undefined },
  options: EnqueueOptions,
): Decision<void> {
  const { now, policy } = options
  const { hasRoutes } = policy
  // Without routes, only a loud event makes a receiver owed; its member names all.
  if (!hasRoutes && !isLoud) return
  const firings = firingsOf(unit, incident).filter((item) => !isReplaced(item))
  const naming = hasRoutes ? yield* nameNow(unit, incident, options) : policy.everyone
  if (toAll) for (const item of firings) if (isHeld(item)) mustSend(unit, item, { naming, was })
  const written = owedFirings({ firings, incident, naming }, { toAll, was }, now).filter(
    ({ due }) => due?.isWritten !== false,
  )
  if (written.length === 0) return
  const holdsOf = yield* gatherHolds(unit, incident, policy, options)
  for (const { due, ...firing } of written) {
    const until = due?.isDelayed === true ? Instant.max(due.at, now) : undefined
    enqueueFiring(unit, incident, { ...firing, holds: holdsOf(firing.receiver, until) }, options)
  }
}

/** A held firing for a receiver of a first step is sent whatever that knows, and waits for no later step. */
const mustSend = (
  unit: UnitOfWork,
  item: OutboxRecord,
  { naming, was }: { readonly naming: Naming | undefined; readonly was: Severity | undefined },
): void => {
  const step = naming?.named.get(item.receiver)
  if (step === undefined || !isFirst(step)) return
  const cause = item.cause === "escalation" || item.cause === "reminder" ? "worsened" : item.cause
  const why = worsenedFrom(cause ?? "opened", was) ?? item.why
  unit.outbox.put({ ...item, cause, why, must_send: true })
}

function* nameNow(
  unit: UnitOfWork,
  incident: IncidentRecord,
  options: EnqueueOptions,
): Decision<IncidentNaming | undefined> {
  const { now, policy } = options
  const needed = { limit: MOST_MEMBERS, readsLabels: policy.routesReadAgents }
  const loud = yield* readLoudMembers(unit, [incident], needed)
  const openings = yield* readOpenings(unit, [incident], policy)
  const onCall = yield* readOnCall(unit, policy, now)
  return nameReceivers(policy, incident, loud.get(incident.id) ?? [], openings(incident), {
    ...onCall,
    firings: unit.outbox.group(incident.id).filter(isFiringOrReplaced),
  })
}

/** Enqueues a resolved for each receiver of these firings, in an order that does not depend on the storage's. */
const enqueueResolved = (
  unit: UnitOfWork,
  incident: IncidentRecord,
  firings: ReadonlyArray<OutboxRecord>,
  options: EnqueueOptions,
): void => {
  const kinds = new Map(firings.map(({ notifier, receiver }) => [receiver, notifier]))
  for (const [receiver, notifier] of Array.from(kinds).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    enqueue(unit, incident, { receiver, notifier, event_type: "resolved" }, options)
}

/** Whether a receiver gets the resolution of an incident that resolves now. */
const hears = ({ receiver }: OutboxRecord, { policy }: EnqueueOptions): boolean =>
  hearsResolved(policy.receivers.get(receiver))

/** Whether a retry at a receiver repeats what most of those behind it have got: nothing waits for it. */
const isPartial = ({ receiver }: OutboxRecord, { policy }: EnqueueOptions): boolean => {
  const definition = policy.receivers.get(receiver)?.definition
  return definition?.kind === "messenger" && definition.type === "apprise"
}

/**
 * Settles the outbox of an incident that resolved by an event. Discards firings never attempted, retries that an
 * acknowledgement held, and those at receivers without resolutions or of several services. An attempt that is under way
 * is the last one there. Enqueues a resolved where a firing was attempted and not refused, unless the event is silent.
 */
export const closeResolved = (
  unit: UnitOfWork,
  incident: IncidentRecord,
  { notify, wasAcknowledged }: { readonly notify: boolean; readonly wasAcknowledged: boolean },
  options: EnqueueOptions,
): void => {
  const firings = unit.outbox.group(incident.id).filter(isFiringOrReplaced)
  for (const item of firings) {
    const isLast = !hears(item, options)
    const isUnsent = (item.state === "pending" && !wasAttempted(item)) || isReplaced(item)
    const isGivenUp = isLast || isPartial(item, options)
    // An acknowledgement would hold the next attempt.
    const isQuiet = wasAcknowledged && item.released_at === undefined
    if (isUnsent || (isGivenUp && (item.state === "pending" || item.state === "retry")))
      unit.outbox.put(discarded(item, "incident_resolved", options.now))
    // It gets no further attempt.
    else if ((isGivenUp || isQuiet) && item.state === "sending")
      unit.outbox.put({ ...item, discarded_because: "incident_resolved" })
  }
  const heard = firings.filter((item) => mayArrive(item) && hears(item, options))
  if (notify) enqueueResolved(unit, incident, heard, options)
}

/**
 * Settles the outbox of an incident whose last member's check or agent was deleted, or its agent
 * blocked. Discards unsent firings. Enqueues a resolved where one was sent or is being sent
 * (docs/rules.md#deleting-an-agent).
 */
export const closeAgentGone = (unit: UnitOfWork, incident: IncidentRecord, options: EnqueueOptions): void => {
  const firings = firingsOf(unit, incident)
  for (const item of firings) {
    if (item.state !== "pending" && item.state !== "retry") continue
    unit.outbox.put(discarded(item, "agent_gone", options.now))
  }
  const sent = firings.filter((item) => (wasSent(item) || item.state === "sending") && hears(item, options))
  enqueueResolved(unit, incident, sent, options)
}
