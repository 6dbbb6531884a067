import * as Instant from "@tocsin/contract/Instant"
import type { FiringCause, NotifierName } from "@tocsin/contract/Status"
import { isBehind, isUnended, type OutboxRecord } from "../model/OutboxRecord.ts"
import { decideFor, type FiringFacts } from "./decideFirings.ts"
import type { Gathered } from "./gatherFacts.ts"
import { waitingUnderHolds } from "./heldItems.ts"
import type { Hold } from "./Hold.ts"

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
 * firing of each receiver of the policy that is sent or held if nothing else happens. Of a receiver that did
 * not take a firing, that is its next attempt.
 */
export const nextFirings = (
  facts: FiringFacts,
  { factsAt, onDue }: Pick<Gathered, "factsAt" | "onDue">,
  now: Instant.Instant,
): ReadonlyArray<NextFiring> => {
  const { firings, incident, naming, receivers } = facts
  if (incident.state !== "open") return []
  const nextOf = (receiver: NotifierName): NextFiring | undefined => {
    const onItsWay = nextAttempt(firings, receiver)
    if (onItsWay !== undefined) {
      const { cause, next_attempt_at: due } = onItsWay
      return { receiver, cause, due: due && due > now ? due : undefined, holds: onDue(incident, onItsWay) }
    }
    for (let at: Instant.Instant | undefined = now; at !== undefined;) {
      const step = lookAt(receiver, at === now ? facts : factsAt(facts, at), at)
      if (step.found !== undefined) return { receiver, ...step.found, due: at > now ? at : undefined }
      at = step.next
    }
    return undefined
  }
  const named = [...(naming?.named.keys() ?? []), ...firings.filter(isUnended).map((item) => item.receiver)]
  return Array.from(new Set(named))
    .filter((receiver) => receivers.has(receiver))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .flatMap((receiver) => nextOf(receiver) ?? [])
}

/** The firing for a receiver, among those that wait under no holds, that is attempted next. */
const nextAttempt = (
  firings: ReadonlyArray<OutboxRecord>,
  receiver: NotifierName,
): OutboxRecord | undefined => {
  const waiting = waitingUnderHolds(firings, receiver)
  const unended = firings.filter(
    (item) => item.receiver === receiver && isUnended(item) && !waiting.includes(item),
  )
  return unended
    .filter((item) => !unended.some((other) => isBehind(item, other)))
    .toSorted((a, b) => Number((a.next_attempt_at ?? 0n) - (b.next_attempt_at ?? 0n)))[0]
}

interface Look {
  readonly found?: Pick<NextFiring, "cause" | "holds">
  /** When an evaluation may find a firing, if this one does not. */
  readonly next?: Instant.Instant | undefined
}

/** The firing that an evaluation at a moment makes due for a receiver, or finds to be held though it is due. */
const lookAt = (receiver: NotifierName, facts: FiringFacts, at: Instant.Instant): Look => {
  const { held, next, written } = decideFor(facts, receiver, at)
  const waiting = held.find(({ becomes }) => becomes !== "discarded")
  const firing = written ?? waiting?.item
  const found = written?.holds ?? (waiting?.becomes === "held" ? waiting.holds : [])
  const holds = found.filter(({ until }) => until > at)
  const after = holds.find(({ by }) => by === "after")
  const isOwed = holds.every(({ by }) => by !== "not_owed")
  if (firing !== undefined && isOwed && after === undefined) return { found: { cause: firing.cause, holds } }
  const { ack_until } = facts.incident
  const times = [after === undefined ? next : after.until, ack_until]
  return { next: Instant.earliest(times.flatMap((time) => (time !== undefined && time > at ? [time] : []))) }
}
