import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { FiringCause, Severity } from "@tocsin/contract/formats/Status"
import { holdsInForce, isUnended, type OutboxRecord } from "../model/OutboxRecord.ts"
import type { NamedReceiver } from "../policy/routing.ts"
import type { FiringFacts } from "./FiringFacts.ts"
import { momentOf } from "./Hold.ts"
import { type Due, isFirst } from "./nameReceivers.ts"
import type { Situation } from "./situation.ts"
import { standsFor, stepBefore, type StepMoment, stepsBeginAfter } from "./steps.ts"

/** The cause of a firing for a receiver that knows this much; with `due`, by a step. */
export const causeFor = (known: Severity | undefined, due: Pick<Due, "isLater"> | undefined): FiringCause =>
  due?.isLater === true ? "escalation" : known === undefined ? "opened" : "worsened"

/** Why a receiver is notified, if it is. */
export interface Want {
  readonly cause: FiringCause
  /** Sent whatever its receiver knows by then. */
  readonly must_send: boolean
  /** By what it was owed again, where it takes the place of one that was. */
  readonly repaired_by?: OutboxRecord["repaired_by"]
  /** When its delay ends, or ended, if it has one. */
  readonly dueAt?: Instant.Instant | undefined
  /** Whether the routes make it owed, by what its receiver knows. */
  readonly isOwed?: true
}

/** The firing that a receiver is to get: a row for each reason, the first that applies counts (docs/rules.md#firings). */
export const wantOf = (situation: Situation, facts: FiringFacts, now: Instant.Instant): Want | undefined => {
  const { handover, held, isOwed, known, refused, step } = situation
  if (step === undefined) return undefined
  const timed = (cause: FiringCause, isDue: boolean): Want | undefined =>
    isDue ? { cause, must_send: true } : undefined
  const { isForced, ranOut, same } = afterAcknowledgement(situation, step, facts)
  // A reminder that waits gives way to a worsening.
  const isOvertaken = held?.cause === "reminder" && isOwed && isFirst(step)
  const must_send = (held?.must_send === true && !isOvertaken) || isForced
  const cause = held?.cause
  const isOwn = isByTime(cause) || held?.repaired_by !== undefined
  const own = cause !== undefined && isOwn && !isOvertaken ? { cause, must_send } : undefined
  const again = refused?.cause === undefined ? undefined : timed(refused.cause, true)
  const comes = handover && { cause: handover.cause, must_send }
  const owed = isOwed ? owedTo(situation, must_send) : undefined
  const stays = isForced ? SENT_ANYWAY : must_send ? keptFor(situation, facts, now) : undefined
  const paged = timed("escalation", isStepDue(situation, facts, now))
  const steps = paged && { ...paged, dueAt: stepBefore(situation.moments, now)?.at }
  const reminder = timed("reminder", (remindedAt(situation) ?? Instant.LATEST) <= now)
  // A step that is due pages a receiver whose own delay since a worsening is not over.
  const isToCome = known !== undefined && owed?.dueAt !== undefined && now < owed.dueAt
  const byRoutes = isToCome ? (stays ?? steps ?? owed) : (owed ?? stays ?? steps)
  return held === undefined
    ? (comes ?? ranOut ?? again ?? same ?? byRoutes ?? reminder)
    : (ranOut ?? own ?? comes ?? byRoutes ?? reminder)
}

/** The firings that the end of an acknowledgement makes owed, or that take the place of those in retry that it held. */
const afterAcknowledgement = (situation: Situation, step: NamedReceiver, facts: FiringFacts) => {
  const { hasAckRunOut, held, known, others, replaced } = situation
  const isAlone = !others.some(isUnended)
  const waits = held ?? replaced[0]
  const isTold = known !== undefined || (waits !== undefined && step.first !== undefined)
  const repaired_by = replaced.find((item) => item.repaired_by !== undefined)?.repaired_by
  const ranOut: Want = { cause: "ack_ran_out", must_send: true, repaired_by }
  const kept = isAlone ? replaced.find((item) => isKept(item, situation, facts)) : undefined
  return {
    /** Whether one is owed that a worsening made so, whatever its receiver knows. */
    isForced: isAlone && isFirst(step) && replaced.some(isOfWorsening),
    ranOut: isTold && hasAckRunOut ? ranOut : undefined,
    same: kept?.cause && { cause: kept.cause, must_send: true, repaired_by: kept.repaired_by },
  }
}

const owedTo = ({ due, held, known, row }: Situation, must_send: boolean): Want => {
  // One that stays named has no delay but that under which its firing waits.
  const delay =
    known === undefined && row ? holdsInForce(row).find(({ by }) => by === "after")?.until : undefined
  const dueAt = due?.at ?? (delay === undefined ? undefined : momentOf(delay))
  const isLater = due?.isLater ?? (known === undefined && held?.cause === "escalation")
  return { cause: causeFor(known, { isLater }), must_send, dueAt, isOwed: true }
}

/** One for a receiver that knows as much. */
const SENT_ANYWAY: Want = { cause: "worsened", must_send: true }

/** A held firing that must be sent; that of a step where one still names the receiver, and not before it began again and is due. */
const keptFor = (
  situation: Situation,
  { incident, naming }: FiringFacts,
  now: Instant.Instant,
): Want | undefined => {
  const { held, step } = situation
  if (held?.cause !== "escalation") return SENT_ANYWAY
  const [delay] = step?.later ?? []
  const begun = stepsBeginAfter(incident, now)
  // A naming that is cut knows no steps.
  if (delay === undefined && step?.beside === undefined && naming?.isCut !== true) return undefined
  const isToCome = delay !== undefined && begun !== undefined && now < Instant.plus(begun, delay)
  return isToCome
    ? undefined
    : { cause: "escalation", must_send: true, dueAt: stepBefore(situation.moments, now)?.at }
}

/** An attempt that began so shortly before a step stands for it. */
const JUST_BEFORE = Duration.minutes(1)

/**
 * Whether a later step is due that nothing stands for yet: neither an attempt since its moment, nor what waits for the
 * receiver or was just sent. One that was before a policy or its receiver came does not count. After a clock was set
 * back, a moment may come once more.
 */
const isStepDue = (
  { attempts, moments, others, receiver }: Situation,
  { incident, naming, policySince = Instant.LATEST }: FiringFacts,
  now: Instant.Instant,
): boolean => {
  const { next_evaluation_at: from = Instant.LATEST } = incident
  const last = Instant.latest(attempts.map(begunAt))
  const isBusy = others.some(isUnended) || (last !== undefined && Instant.isRecent(last, JUST_BEFORE, now))
  if (isBusy) return false
  const isMissed = (at: Instant.Instant) =>
    policySince <= at && (last === undefined || Instant.plus(last, JUST_BEFORE) <= at)
  const hasPaged = (step: StepMoment) => others.some((item) => standsFor(item, step))
  const isPresent = ({ at, rotas }: StepMoment) =>
    rotas === undefined || at >= (naming?.onCall?.hasBeenSince(receiver, rotas) ?? at)
  return moments.some(
    (one) => one.at <= now && (from <= one.at || isMissed(one.at)) && !hasPaged(one) && isPresent(one),
  )
}

/** When the last attempt at a row that has ended began; of a retry, and after a clock was set back, when it ended. */
const begunAt = ({
  age_starts_at,
  attempts,
  first_attempted_at,
  updated_at,
}: OutboxRecord): Instant.Instant =>
  attempts === 1 && first_attempted_at !== undefined
    ? Instant.min(Instant.max(first_attempted_at, age_starts_at), updated_at)
    : updated_at

/** When a receiver is reminded, if nothing waits for it: the last change of a row that ended is that of its attempt. */
export const remindedAt = ({ attempts, others, step }: Situation): Instant.Instant | undefined => {
  if (step?.remind === undefined || others.some(isUnended)) return undefined
  const last = Instant.latest(attempts.map(({ updated_at }) => updated_at))
  return last && Instant.plus(last, step.remind)
}

/** Whether a worsening that ended an acknowledgement made a firing owed, whatever its receiver knows. */
const isOfWorsening = ({ cause, must_send }: OutboxRecord): boolean =>
  must_send && (cause === "opened" || cause === "worsened")

/**
 * Whether a firing that an acknowledgement held in retry is sent after it with its cause: one that is due by time, or
 * owed again, and a handover to one who is on call.
 */
const isKept = (
  { cause, repaired_by }: OutboxRecord,
  { receiver, step }: Situation,
  { naming }: Pick<FiringFacts, "naming">,
): boolean => {
  if (repaired_by !== undefined) return true
  if (cause !== "handover") return isByTime(cause)
  return naming?.onCall?.lastCame(receiver, step?.rotas ?? []) !== undefined
}

/** Whether a firing is due by time, whatever its receiver is owed. */
export const isByTime = (cause: FiringCause | undefined): cause is "ack_ran_out" | "reminder" =>
  cause === "ack_ran_out" || cause === "reminder"
