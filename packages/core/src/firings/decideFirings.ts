import { Duration } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import type { FiringCause, NotifierName, Severity } from "@tocsin/contract/Status"
import { acknowledgementOf } from "../model/Acknowledgement.ts"
import { isBelow } from "../model/MemberRecord.ts"
import { holdsInForce, isHeld, isUnended, namesInForce, type OutboxRecord } from "../model/OutboxRecord.ts"
import { AT_ONCE, type NamedReceivers } from "../policy/routing.ts"
import { type Due, dueByRoutes, type IncidentNaming } from "./nameReceivers.ts"
import { decideHolds, type HeldFacts, type HoldFacts } from "./decideHolds.ts"
import type { Handover } from "./namedRotas.ts"
import { type Holds, momentOf, waitingUnderHolds } from "./Hold.ts"

/** Everything that decides on the firings of an open incident. */
export interface FiringFacts extends HoldFacts {
  /** Its firings that are not discarded. */
  readonly firings: ReadonlyArray<OutboxRecord>
  /** Absent while no loud member is present. */
  readonly naming: IncidentNaming | undefined
  /** Until when agents may still have to report from an outage. */
  readonly graceUntil: Instant.Instant | undefined
  readonly receivers: { readonly has: (receiver: NotifierName) => boolean }
  /** Whether an evaluation may find a receiver that is owed a firing. Without routes, only a loud event does. */
  readonly hasRoutes: boolean
}

export interface NewFiring {
  readonly receiver: NotifierName
  readonly cause: FiringCause
  readonly must_send: boolean
  /** Whether it is owed by a policy or a label, not by an event or in time. */
  readonly is_backfill?: boolean
  /** The rotas that named its receiver. */
  readonly rotas?: ReadonlyArray<NotifierName> | undefined
  readonly holds: Holds
}

/** A firing that waits, and what becomes of it. */
export type HeldFiring =
  | {
      readonly item: OutboxRecord
      readonly becomes: "held"
      readonly holds: Holds
      /** Whether its cause is another now. */
      readonly isRestated: boolean
    }
  | { readonly item: OutboxRecord; readonly becomes: "due"; readonly past: Holds["past"] }
  /** One that nothing holds has another cause now. */
  | { readonly item: OutboxRecord; readonly becomes: "restated" }
  | { readonly item: OutboxRecord; readonly becomes: "discarded"; readonly because: "coalesced" | "unnamed" }

export interface Evaluation {
  readonly written: ReadonlyArray<NewFiring>
  readonly held: ReadonlyArray<HeldFiring>
  /** When the next step or reminder is due, or the acknowledgement ends. */
  readonly nextEvaluationAt: Instant.Instant | undefined
}

/** The highest severity of these firings for a receiver: none of them is held or discarded. */
const knownBy = (receiver: NotifierName, firings: ReadonlyArray<OutboxRecord>): Severity | undefined => {
  let known: Severity | undefined
  for (const item of firings)
    if (item.receiver === receiver && isBelow(known, item.severity)) known = item.severity
  return known
}

/**
 * Whom an incident names. Where only the worst of too many members name receivers, who has a firing stays named,
 * unless a rota alone named it.
 */
const namedNow = ({ firings, naming }: Pick<FiringFacts, "firings" | "naming">): NamedReceivers => {
  if (naming === undefined || !naming.isCut) return naming?.named ?? new Map()
  const stay = firings.filter(({ rotas }) => rotas === undefined)
  return new Map([...stay.map(({ receiver }) => [receiver, AT_ONCE] as const), ...naming.named])
}

/** The cause of a firing for a receiver that knows this much. */
const causeFor = (known: Severity | undefined, due: Pick<Due, "isLater"> | undefined): FiringCause =>
  known !== undefined ? "worsened" : due?.isLater === true ? "escalation" : "opened"

/**
 * Firings that are owed and have no held row (docs/rules.md#firings). After an acknowledgement
 * that a worsening ended, `toAll` receivers that the routes name are owed one.
 */
export const owedFirings = (
  { firings, incident, naming }: Pick<FiringFacts, "firings" | "incident" | "naming">,
  toAll: boolean,
): ReadonlyArray<Omit<NewFiring, "holds"> & { readonly due: Due | undefined }> => {
  const { announced, state } = incident
  if (naming === undefined || announced === undefined || state !== "open") return []
  return Array.from(namedNow({ firings, naming })).flatMap(([receiver, { rotas }]) => {
    if (firings.some((item) => item.receiver === receiver && isHeld(item))) return []
    const known = knownBy(receiver, firings)
    const isAgain = toAll && known !== undefined
    if (!isAgain && !isBelow(known, announced)) return []
    const due = known === undefined ? dueByRoutes(incident, naming, receiver) : undefined
    return [{ receiver, rotas, cause: causeFor(known, due), must_send: toAll, due }]
  })
}

/** Decides on the firings of an open incident at a moment (docs/rules.md#evaluation). */
export const decideFirings = (facts: FiringFacts, now: Instant.Instant): Evaluation => {
  const { firings, incident, naming, receivers } = facts
  const written: Array<NewFiring> = []
  const held: Array<HeldFiring> = []
  const next: Array<Instant.Instant | undefined> = [naming?.onCall?.nextChange]
  const ackUntil = acknowledgementOf(incident)?.until
  if (ackUntil !== undefined && now < ackUntil) next.push(ackUntil)
  const waiting = firings.filter(isHeld).map(({ receiver }) => receiver)
  for (const receiver of new Set([...namedNow(facts).keys(), ...waiting])) {
    // A receiver that this policy lacks may be another replica's.
    if (!receivers.has(receiver)) continue
    const decided = decideFor(facts, receiver, now)
    if (decided.written !== undefined) written.push(decided.written)
    held.push(...decided.held)
    next.push(decided.next)
  }
  return { written, held, nextEvaluationAt: Instant.earliest(next) }
}

const situationOf = (facts: FiringFacts, receiver: NotifierName) => {
  const { firings, incident, naming } = facts
  const waiting = waitingUnderHolds(firings, receiver)
  // Nothing holds these.
  const others = firings.filter((item) => item.receiver === receiver && !waiting.includes(item))
  const step = namedNow(facts).get(receiver)
  const known = knownBy(receiver, others)
  const { announced } = incident
  const isOwed = step !== undefined && announced !== undefined && isBelow(known, announced)
  const due = isOwed && known === undefined && naming ? dueByRoutes(incident, naming, receiver) : undefined
  // The last one states what those that are merged with it would; another one may have been evaluated.
  const held = waiting.at(-1)
  const evaluated = waiting.findLast(isHeld)
  const row = held && { ...held, holds: evaluated?.holds, next_evaluation_at: evaluated?.next_evaluation_at }
  // One that stays named has no delay but that under which its firing waits.
  const delay = row && holdsInForce(row).find(({ by }) => by === "after")?.until
  const isDelayed = isOwed && known === undefined && delay !== undefined
  const dueAt = due?.at ?? (isDelayed ? momentOf(delay) : undefined)
  // Who knows enough, and comes on call, is owed a firing all the same.
  const mayTakeOver = step?.rotas !== undefined && known !== undefined && !isOwed
  const handover = mayTakeOver ? naming?.onCall?.handoverTo(receiver, step.rotas) : undefined
  return { step, known, isOwed, due, dueAt, handover, held, row, merged: waiting.slice(0, -1), others }
}
type Situation = ReturnType<typeof situationOf>

/** Decides on the firings for one receiver; `next` is when its next step or reminder is due. */
export const decideFor = (
  facts: FiringFacts,
  receiver: NotifierName,
  now: Instant.Instant,
): {
  readonly written?: NewFiring
  readonly held: ReadonlyArray<HeldFiring>
  readonly next?: Instant.Instant | undefined
} => {
  const situation = situationOf(facts, receiver)
  const { due, dueAt, handover, held, isOwed, known, others, row, step } = situation
  const timer = timerOf(situation, facts, now)
  // A firing that is due by time has no delay.
  const isTimed = handover !== undefined || timer.cause !== undefined || isByTime(held?.cause)
  const waiting = {
    row,
    receivers: [receiver],
    due: isTimed ? undefined : held === undefined ? due && Instant.max(due.at, now) : due?.at,
    after: isTimed || dueAt === undefined || dueAt <= now ? undefined : dueAt,
  }
  const merged = situation.merged.map(
    (item) => ({ item, becomes: "discarded", because: "coalesced" }) as const,
  )
  // A firing that is due by time brings the next reminder in its time.
  const reminded = step?.remind && Instant.plus(now, step.remind)
  const next = timer.cause === undefined ? timer.at : reminded
  if (held !== undefined)
    return { held: [...merged, heldAs(situation, held, timer, { facts, waiting, now })], next }
  const waits = others.find(isUnended)
  if (handover !== undefined && waits !== undefined)
    return { held: [...merged, ...restated(waits, handover)], next }
  if (timer.cause === undefined && handover === undefined) {
    if (!isOwed || !facts.hasRoutes) return { held: merged, next }
    if (due?.isWritten === false && now < due.at) return { held: merged, next: due.at }
  }
  const isByTurn = handover !== undefined || comesLate(situation, facts, receiver)
  const isDelayed = isTimed || due?.isDelayed === true
  const reportsUntil = isDelayed ? facts.graceUntil : undefined
  return {
    written: {
      receiver,
      rotas: step?.rotas,
      cause: handover?.cause ?? timer.cause ?? causeFor(known, due),
      must_send: timer.cause !== undefined && handover === undefined,
      is_backfill: isByTurn || (timer.cause === undefined && isBackfill(due, now)),
      holds: decideHolds(facts, { ...waiting, reportsUntil }, now),
    },
    held: merged,
    next: reminded,
  }
}

/** A firing of another cause that nothing holds, for who comes on call meanwhile. */
const restated = (item: OutboxRecord, { cause }: Handover): ReadonlyArray<HeldFiring> =>
  isByTime(item.cause) || item.cause === cause
    ? []
    : [{ item: { ...item, cause, is_backfill: true }, becomes: "restated" }]

/** Whether a receiver is owed a firing since it came on call, not since its event. */
const comesLate = (
  { due, isOwed, step }: Situation,
  { naming }: FiringFacts,
  receiver: NotifierName,
): boolean => {
  if (!isOwed || step?.rotas === undefined) return false
  const came = naming?.onCall?.cameAt(receiver, step.rotas)
  return came !== undefined && (due === undefined || due.at < came)
}

/** A later step is written when it is due; an event has written all else. */
const isBackfill = (due: Due | undefined, now: Instant.Instant): boolean =>
  due === undefined || due.isWritten || !Instant.isRecent(due.at, SOON, now)

/** Steps are due and written within this. */
const SOON = Duration.minutes(1)

const isByTime = (cause: FiringCause | undefined): boolean => cause === "ack_ran_out" || cause === "reminder"

const heldAs = (
  { due, handover, isOwed, known, row, step }: Situation,
  before: OutboxRecord,
  timer: Timer,
  {
    facts,
    now,
    waiting,
  }: { readonly facts: FiringFacts; readonly now: Instant.Instant; readonly waiting: HeldFacts },
): HeldFiring => {
  const isSilent = facts.naming === undefined
  const must_send = before.must_send || timer.cause !== undefined
  if (!isSilent && must_send && step === undefined)
    return { item: before, becomes: "discarded", because: "unnamed" }
  const isLater = due?.isLater ?? before.cause === "escalation"
  const present = handover?.cause ?? causeFor(known, { isLater })
  const cause = timer.cause ?? (isByTime(before.cause) ? before.cause : present)
  const rotas = step === undefined ? before.rotas : step.rotas
  const isOfRotas = before.rotas?.join() === rotas?.join()
  const isSame = cause === before.cause && must_send === before.must_send && isOfRotas
  const isRestated = !isSilent && !isSame
  const is_backfill = before.is_backfill || handover !== undefined
  const item = isRestated ? { ...before, cause, must_send, rotas, is_backfill } : before
  const isWanted = isOwed || must_send || handover !== undefined
  const lacks = isSilent ? "notifications_off" : isWanted ? undefined : "not_owed"
  // A clock that was set back is no outage.
  const wasAhead = row !== undefined && namesInForce(row).join() === "clock"
  const reportsUntil = wasAhead ? undefined : facts.graceUntil
  const holds = decideHolds(facts, { ...waiting, lacks, reportsUntil }, now)
  return holds.inForce.length > 0
    ? { item, becomes: "held", holds, isRestated }
    : { item, becomes: "due", past: holds.past }
}

/** The firing that is due to a receiver by time, whatever it knows; or when the next reminder is. */
interface Timer {
  readonly cause?: FiringCause
  readonly at?: Instant.Instant
}

const timerOf = (
  { handover, held, isOwed, known, others, step }: Situation,
  { incident }: FiringFacts,
  now: Instant.Instant,
): Timer => {
  if (step === undefined) return {}
  const ackUntil = acknowledgementOf(incident)?.until
  const hasAckRunOut = ackUntil !== undefined && ackUntil <= now
  if (hasAckRunOut && (known !== undefined || held !== undefined)) return { cause: "ack_ran_out" }
  const { remind } = step
  if (remind === undefined) return {}
  const isWaiting = isOwed || handover !== undefined || held?.must_send === true
  // The next attempt is not before now, so the reminder after it is not due before this.
  if (isWaiting || others.some(isUnended)) return { at: Instant.plus(now, remind) }
  // The last change of an item that ended is the end of its last attempt.
  const attempts = others.map(({ updated_at }) => updated_at)
  if (attempts.length === 0) return {}
  const at = Instant.plus(attempts.reduce(Instant.max), remind)
  return at <= now ? { cause: "reminder" } : { at }
}
