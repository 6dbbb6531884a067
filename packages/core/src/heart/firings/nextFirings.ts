import * as Instant from "@tocsin/contract/formats/Instant"
import type { FiringCause, NotifierName } from "@tocsin/contract/formats/Status"
import { endedAcknowledgement } from "../model/Acknowledgement.ts"
import { type IncidentRecord, soonOf } from "../model/IncidentRecord.ts"
import { inOrder, type OutboxRecord, isUnended } from "../model/OutboxRecord.ts"
import { decideFor } from "./decideFor.ts"
import type { FiringFacts } from "./FiringFacts.ts"
import type { Gathered } from "./gatherFacts.ts"
import { type Hold, lastEnd, NO_HOLDS, UNTIL_A_CHANGE, waitingUnderHolds } from "./Hold.ts"
import { beginsSteps, holdEnded } from "./steps.ts"

/** The firing that a receiver gets next, as things stand. */
export interface NextFiring {
  readonly receiver: NotifierName
  /**
   * Its cause when it is due. An acknowledgement that holds it makes it `ack_ran_out` only by its expiry. Absent
   * for firings of versions without causes.
   */
  readonly cause: FiringCause | undefined
  /** When it is due; absent if it is due now. */
  readonly due: Instant.Instant | undefined
  /** Its holds when it is due: all but `after`, whose end is that time. */
  readonly holds: ReadonlyArray<Hold>
}

/**
 * Whom an open incident notifies next, by the evaluations to come (docs/rules.md#evaluation): the first
 * firing of each receiver of the policy that is sent or held if nothing else happens, in the order in which they
 * are to be sent. Of a receiver that did not take a firing, that is its next attempt.
 */
export const nextFirings = (
  facts: FiringFacts,
  { factsAt, onDue }: Pick<Gathered, "factsAt" | "onDue">,
  now: Instant.Instant,
): ReadonlyArray<NextFiring> => {
  const { firings, incident, receivers } = facts
  if (incident.state !== "open") return []
  // Steps to come are foreseen, and that holds end under which something is due.
  const ends = firings
    .filter(({ receiver }) => receivers.has(receiver))
    .map((item) => holdEnded(item, [], UNTIL_A_CHANGE))
    .filter((at) => at !== UNTIL_A_CHANGE)
  const steps_began_at = Instant.latest([incident.steps_began_at, ...ends])
  const foreseen = {
    ...facts,
    incident: { ...incident, steps_began_at, next_evaluation_at: soonOf(incident, now) },
  }
  const nextOf = (receiver: NotifierName): NextFiring | undefined => {
    const onItsWay = nextAttempt(firings, receiver)
    if (onItsWay !== undefined) {
      const { cause, next_attempt_at: due } = onItsWay
      return {
        receiver,
        cause,
        due: due && due > now ? due : undefined,
        holds: onDue(incident, onItsWay).inForce,
      }
    }
    let looks = 0
    let then: FiringFacts = foreseen
    for (let at: Instant.Instant | undefined = now; at !== undefined && looks < MOST_LOOKS; looks++) {
      if (at !== now) then = factsAt(then, at)
      const step = lookAt(receiver, then, at)
      if (step.found !== undefined) return { receiver, ...step.found, due: at > now ? at : undefined }
      then = { ...then, incident: step.incident }
      at = step.next
    }
    return undefined
  }
  const named = [...namedToCome(facts, factsAt), ...firings.filter(isUnended).map((item) => item.receiver)]
  const sentAt = ({ due = now, holds }: NextFiring) =>
    Instant.max(due, holds.length === 0 ? now : lastEnd(holds))
  return Array.from(new Set(named))
    .filter((receiver) => receivers.has(receiver))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .flatMap((receiver) => nextOf(receiver) ?? [])
    .toSorted((a, b) => (sentAt(a) < sentAt(b) ? -1 : sentAt(a) > sentAt(b) ? 1 : 0))
}

/** Who is on call may change for ever without a firing for a receiver. */
const MOST_LOOKS = 20

/** Whom an incident names now, after the next change of who is on call, and then up to the end of its acknowledgement. */
const namedToCome = (facts: FiringFacts, factsAt: Gathered["factsAt"]): ReadonlyArray<NotifierName> => {
  const { ack_until } = facts.incident
  let { naming } = facts
  const named = Array.from(naming?.named.keys() ?? [])
  let at: Instant.Instant | undefined
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    if (at !== undefined && (ack_until === undefined || at >= ack_until)) break
    at = naming?.onCall?.nextChange
    if (at === undefined) break
    naming = factsAt(facts, at).naming
    named.push(...(naming?.named.keys() ?? []))
  }
  return named
}

/** The firing for a receiver, among those that wait under no holds, that is attempted next. */
const nextAttempt = (
  firings: ReadonlyArray<OutboxRecord>,
  receiver: NotifierName,
): OutboxRecord | undefined => {
  const waiting = waitingUnderHolds(firings, receiver)
  return firings
    .filter((item) => item.receiver === receiver && isUnended(item) && !waiting.includes(item))
    .toSorted(inOrder)[0]
}

interface Look {
  readonly found?: Pick<NextFiring, "cause" | "holds">
  /** When an evaluation may find a firing, if this one does not. */
  readonly next?: Instant.Instant | undefined
  /** As an evaluation leaves it. */
  readonly incident: IncidentRecord
}

/** The firing that an evaluation at a moment makes due for a receiver, or finds to be held though it is due. */
const lookAt = (receiver: NotifierName, facts: FiringFacts, at: Instant.Instant): Look => {
  const { held, next, written } = decideFor(facts, receiver, at)
  const waiting = held.find(({ becomes }) => becomes !== "discarded")
  const firing = written ?? waiting?.item
  const found = written?.holds ?? (waiting?.becomes === "held" ? waiting.holds : NO_HOLDS)
  const holds = found.inForce.filter(({ until }) => until > at)
  const after = holds.find(({ by }) => by === "after")
  const isOwed = holds.every(({ by }) => by !== "not_owed")
  const { ack_until } = facts.incident
  const hasRunOut = ack_until !== undefined && ack_until <= at
  const incident = { ...facts.incident, ...(hasRunOut && endedAcknowledgement(ack_until)) }
  const begins = firing?.cause === "escalation" ? holds.filter(beginsSteps) : []
  // The step comes its delay after their end; of one without an end, that is not known.
  const begun = begins.length === 0 ? undefined : lastEnd(begins)
  const isMoved = begun !== undefined && begun !== UNTIL_A_CHANGE
  if (firing !== undefined && isOwed && after === undefined && !isMoved)
    return { found: { cause: firing.cause, holds }, incident }
  const times = [after === undefined ? next : after.until, begun, ack_until, facts.naming?.onCall?.nextChange]
  return {
    next: Instant.earliest(times.filter((time) => time !== undefined && time > at && time < UNTIL_A_CHANGE)),
    incident: isMoved ? { ...incident, steps_began_at: begun } : incident,
  }
}
