import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName, Severity } from "@tocsin/contract/formats/Status"
import { acknowledgementOf } from "../model/Acknowledgement.ts"
import { knownBy } from "../model/Announced.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { isBelow } from "../model/MemberRecord.ts"
import { inOrder, isHeld, isReplaced, isRetried, type OutboxRecord } from "../model/OutboxRecord.ts"
import { AT_ONCE, type NamedReceivers } from "../policy/routing.ts"
import type { FiringFacts } from "./FiringFacts.ts"
import { afterQuiet, canBeHeld, lastAttempted, waitingUnderHolds } from "./Hold.ts"
import { dueByRoutes, isFirst } from "./nameReceivers.ts"
import { stepsOf } from "./steps.ts"

/** The highest severity that these firings let a receiver know: none of them is held or discarded. */
export const knownTo = (
  incident: IncidentRecord,
  receiver: NotifierName,
  firings: ReadonlyArray<OutboxRecord>,
): Severity | undefined => {
  let known: Severity | undefined
  for (const item of firings) {
    if (item.receiver !== receiver) continue
    const severity = knownBy(incident, item)
    if (isBelow(known, severity)) known = severity
  }
  return known
}

/**
 * Whom an incident names. Where only the worst of too many members name receivers, who has a firing stays named,
 * unless a rota alone named it.
 */
export const namedNow = ({ firings, naming }: Pick<FiringFacts, "firings" | "naming">): NamedReceivers => {
  if (naming === undefined || !naming.isCut) return naming?.named ?? new Map()
  const stay = firings.filter(({ rotas }) => rotas === undefined)
  return new Map([...stay.map(({ receiver }) => [receiver, AT_ONCE] as const), ...naming.named])
}

/** How old a firing may be that a receiver gets again once it works. */
export const OWED_AGAIN_FOR = Duration.hours(24)

/** The last firing for a receiver that works again, if it was refused, or ran out of attempts, before that. */
const refusedBefore = (
  { firings, repaired }: FiringFacts,
  receiver: NotifierName,
  now: Instant.Instant,
): OutboxRecord | undefined => {
  const works = repaired?.get(receiver)
  if (works === undefined) return undefined
  const last = firings
    .filter((item) => item.receiver === receiver)
    .toSorted(inOrder)
    .at(-1)
  if (last?.state !== "failed" || last.updated_at > works.at) return undefined
  const isOld = now > Instant.plus(last.created_at, OWED_AGAIN_FOR)
  return isOld || (works.by === "attempt" && last.repaired_by === "attempt") ? undefined : last
}

const hasRunOut = (incident: IncidentRecord, now: Instant.Instant): boolean => {
  const acknowledgement = acknowledgementOf(incident)
  return acknowledgement !== undefined && acknowledgement.until <= now
}

/** Finds the firings in retry of an incident that an acknowledgement held which has ended. */
export const overQuiet = (
  incident: IncidentRecord,
  now: Instant.Instant,
): ((item: OutboxRecord) => boolean) => (hasRunOut(incident, now) ? isRetried : isReplaced)

/** The facts about the firings for one receiver. */
export const situationOf = (facts: FiringFacts, receiver: NotifierName, now: Instant.Instant) => {
  const { incident, naming } = facts
  const firings = facts.firings.filter((item) => item.receiver === receiver)
  const hasAckRunOut = hasRunOut(incident, now)
  // An acknowledgement held all that was not attempted, also where no claim looked at it.
  const waiting = hasAckRunOut
    ? firings.filter(canBeHeld).toSorted(inOrder)
    : waitingUnderHolds(firings, receiver)
  const over = firings.filter(overQuiet(incident, now))
  // Nothing holds these.
  const others = firings.filter((item) => !waiting.includes(item) && !over.includes(item))
  const replaced = over.map((item) => afterQuiet(item, incident))
  const attempts = facts.withReplaced
    .filter((item) => item.receiver === receiver && !waiting.includes(item))
    .map((item) => ({ ...item, updated_at: lastAttempted(item) }))
  const step = namedNow(facts).get(receiver)
  const known = knownTo(incident, receiver, others)
  const { announced } = incident
  const isOwed = step !== undefined && announced !== undefined && isBelow(known, announced)
  const isAtOnce = known !== undefined && step !== undefined && isFirst(step)
  const due =
    isOwed && !isAtOnce && naming ? dueByRoutes(incident, naming, { receiver, known, now }) : undefined
  // The last one states what those that are merged with it would; another one may have been evaluated.
  const held = waiting.at(-1)
  const evaluated = waiting.findLast(isHeld)
  const row = held && { ...held, holds: evaluated?.holds, next_evaluation_at: evaluated?.next_evaluation_at }
  const stepFacts = naming && step && facts.hasRoutes ? { naming, receiver, firings: others } : undefined
  const moments = stepFacts === undefined ? [] : stepsOf(incident, stepFacts, now)
  // A receiver that knows enough is owed a firing all the same when it comes on call.
  const mayTakeOver = step?.rotas !== undefined && known !== undefined && !isOwed
  const handover = mayTakeOver ? naming?.onCall?.handoverTo(receiver, step.rotas) : undefined
  return {
    receiver,
    step,
    known,
    isOwed,
    due,
    handover,
    held,
    row,
    merged: [...replaced, ...waiting.slice(0, -1)],
    replaced,
    refused: refusedBefore(facts, receiver, now),
    hasAckRunOut,
    moments,
    others,
    /** These, and those that an acknowledgement's end discards, or has, as their last attempts left them. */
    attempts,
  }
}
export type Situation = ReturnType<typeof situationOf>
