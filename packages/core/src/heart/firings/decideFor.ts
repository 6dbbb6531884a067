import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { isUnended, namesInForce, type OutboxRecord } from "../model/OutboxRecord.ts"
import type { Reason } from "../model/Reason.ts"
import { decideHolds } from "./decideHolds.ts"
import type { FiringFacts, HeldFiring, NewFiring } from "./FiringFacts.ts"
import type { Handover } from "./namedRotas.ts"
import type { Due } from "./nameReceivers.ts"
import { comesLate, reasonOf } from "./reasons.ts"
import { type Situation, situationOf } from "./situation.ts"
import { causeFor, isByTime, remindedAt, type Want, wantOf } from "./wants.ts"

interface At {
  readonly facts: FiringFacts
  readonly now: Instant.Instant
}

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
  const at = { facts, now }
  const situation = situationOf(facts, receiver, now)
  const { due, handover, held, others, replaced } = situation
  const want = wantOf(situation, facts, now)
  const next = nextMoment(situation, want, now)
  const merged = situation.merged.map(
    (item) => ({ item, becomes: "discarded", because: "coalesced" }) as const,
  )
  if (held !== undefined) return { held: [...merged, heldAs(situation, held, want, at)], next }
  const waits = others.find(isUnended)
  if (handover !== undefined && waits !== undefined) {
    const why = reasonOf(situation, handover.cause, facts, now)
    return { held: [...merged, ...restated(waits, handover, why)], next }
  }
  if (want?.isOwed === true && due?.isWritten === false && now < due.at)
    return { held: merged, next: Instant.earliest([next, due.at]) }
  // Without routes, events write all that is owed, but for the place of one that an acknowledgement held in retry.
  const isOfEvents = want?.isOwed === true && !facts.hasRoutes && replaced.length === 0
  return want === undefined || isOfEvents
    ? { held: merged, next }
    : { held: merged, next, written: newFiring(situation, want, at) }
}

/** When the next step or reminder of a receiver is due. */
const nextMoment = (situation: Situation, want: Want | undefined, now: Instant.Instant) => {
  const { moments, others, step } = situation
  // The next attempt is not before now, so the reminder after it is not due before this.
  const isBusy = want !== undefined || others.some(isUnended)
  const reminded = isBusy ? step?.remind && Instant.plus(now, step.remind) : remindedAt(situation)
  return Instant.earliest([reminded, ...moments.map(({ at }) => at).filter((at) => at > now)])
}

const newFiring = (situation: Situation, want: Want, { facts, now }: At): NewFiring => {
  const { due, handover, receiver, step } = situation
  const { cause, isOwed = false, must_send } = want
  const isByTurn = handover !== undefined || comesLate(situation, facts)
  const reportsUntil = isOwed && due?.isDelayed !== true ? undefined : facts.graceUntil
  return {
    receiver,
    rotas: step?.rotas,
    cause,
    must_send,
    why: reasonOf(situation, cause, facts, now),
    repaired_by: repairedBy(situation, facts) ?? want.repaired_by,
    is_backfill: isByTurn || (isOwed && isBackfill(due, now)),
    holds: decideHolds(facts, { ...waitOf(situation, want, now), reportsUntil }, now),
  }
}

/** By what a new firing is owed again. One that an attempt brought once is not brought by another. */
const repairedBy = ({ receiver, refused }: Situation, { repaired }: FiringFacts) =>
  refused?.repaired_by === "attempt" ? "attempt" : refused && repaired?.get(receiver)?.by

/** The facts besides its incident on which the holds of a firing depend. */
const waitOf = ({ due, held, receiver, row }: Situation, want: Want | undefined, now: Instant.Instant) => {
  const { dueAt, isOwed } = want ?? {}
  return {
    row,
    receivers: [receiver],
    due: isOwed === true ? (held === undefined ? due && Instant.max(due.at, now) : due?.at) : dueAt,
    after: dueAt === undefined || dueAt <= now ? undefined : dueAt,
  }
}

/** A firing of another cause that nothing holds, for who comes on call meanwhile. */
const restated = (
  item: OutboxRecord,
  { cause }: Handover,
  why: Reason | undefined,
): ReadonlyArray<HeldFiring> =>
  isByTime(item.cause) || item.cause === cause
    ? []
    : [{ item: { ...item, cause, why, is_backfill: true }, becomes: "restated" }]

/** A later step is written when it is due; an event has written all else. */
const isBackfill = (due: Due | undefined, now: Instant.Instant): boolean =>
  due === undefined || due.isWritten || !Instant.isRecent(due.at, SOON, now)

/** Steps are due and written within this. */
const SOON = Duration.minutes(1)

const heldAs = (
  situation: Situation,
  before: OutboxRecord,
  want: Want | undefined,
  { facts, now }: At,
): HeldFiring => {
  const { handover, known, row, step } = situation
  const isSilent = facts.naming === undefined
  const isUnnamed = !isSilent && before.must_send && step === undefined
  const cause = want?.cause ?? causeFor(known, { isLater: before.cause === "escalation" })
  // A step that began again makes its firing due anew.
  const isStep = before.cause === "escalation"
  const must_send = want === undefined ? before.must_send && !isStep && !isUnnamed : want.must_send
  const rotas = step === undefined ? before.rotas : step.rotas
  const isOfRotas = before.rotas?.join() === rotas?.join()
  const isSame = cause === before.cause && must_send === before.must_send && isOfRotas
  const isRestated = !isSilent && !isSame
  const is_backfill = before.is_backfill || handover !== undefined
  const why = reasonOf(situation, cause, facts, now)
  const item = isRestated ? { ...before, cause, must_send, rotas, is_backfill, why } : before
  const lacks = isSilent ? "notifications_off" : want === undefined ? "not_owed" : undefined
  // A clock that was set back is no outage.
  const wasAhead = row !== undefined && namesInForce(row).join() === "clock"
  const reportsUntil = wasAhead ? undefined : facts.graceUntil
  const holds = decideHolds(facts, { ...waitOf(situation, want, now), lacks, reportsUntil }, now)
  // It stays while it alone knows that something was due under a hold whose end begins steps.
  if (isUnnamed && !(facts.hasLaterSteps && holds.inForce.some(({ wasDue }) => wasDue)))
    return { item: before, becomes: "discarded", because: "unnamed" }
  return holds.inForce.length > 0
    ? { item, becomes: "held", holds, isRestated }
    : { item: { ...item, why }, becomes: "due", past: holds.past }
}
