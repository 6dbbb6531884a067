import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName, Severity } from "@tocsin/contract/formats/Status"
import { acknowledgementOf } from "../model/Acknowledgement.ts"
import { isBelow } from "../model/MemberRecord.ts"
import { isHeld } from "../model/OutboxRecord.ts"
import type { HoldName } from "../model/StoredHold.ts"
import { decideFor } from "./decideFor.ts"
import { canBeHeld } from "./Hold.ts"
import type { Evaluation, FiringFacts, NewFiring } from "./FiringFacts.ts"
import { type Due, dueByRoutes, isFirst } from "./nameReceivers.ts"
import { besideOf, worsenedFrom } from "./reasons.ts"
import { knownTo, namedNow, overQuiet } from "./situation.ts"
import { holdEnded } from "./steps.ts"
import { causeFor } from "./wants.ts"

/**
 * Firings that are owed and have no held row (docs/rules.md#firings). After an acknowledgement
 * that a worsening ended, `toAll` receivers of first steps are owed one. `was` was announced before it.
 */
export const owedFirings = (
  { firings, incident, naming }: Pick<FiringFacts, "firings" | "incident" | "naming">,
  { toAll, was }: { readonly toAll: boolean; readonly was: Severity | undefined },
  now: Instant.Instant,
): ReadonlyArray<Omit<NewFiring, "holds"> & { readonly due: Due | undefined }> => {
  const { announced, state } = incident
  if (naming === undefined || announced === undefined || state !== "open") return []
  return Array.from(namedNow({ firings, naming })).flatMap(([receiver, step]) => {
    if (firings.some((item) => item.receiver === receiver && isHeld(item))) return []
    const known = knownTo(incident, receiver, firings)
    const must_send = toAll && isFirst(step)
    if (!(must_send && known !== undefined) && !isBelow(known, announced)) return []
    const isAtOnce = known !== undefined && isFirst(step)
    const due = isAtOnce ? undefined : dueByRoutes(incident, naming, { receiver, known, now })
    const cause = causeFor(known, due)
    const beside = cause === "escalation" ? besideOf(naming, receiver, step.rotas) : undefined
    const why = beside ?? worsenedFrom(cause, was ?? known)
    return [{ receiver, rotas: step.rotas, cause, why, must_send, due }]
  })
}

type Decided = ReturnType<typeof decideFor> & { readonly receiver: NotifierName }

const decideAll = (facts: FiringFacts, now: Instant.Instant): ReadonlyArray<Decided> => {
  const isOver = overQuiet(facts.incident, now)
  const waiting = facts.firings.filter((item) => isHeld(item) || isOver(item))
  // A receiver that this policy lacks may be another replica's.
  const receivers = Array.from(
    new Set([...namedNow(facts).keys(), ...waiting.map(({ receiver }) => receiver)]),
  )
  return receivers
    .filter((receiver) => facts.receivers.has(receiver))
    .map((receiver) => ({ ...decideFor(facts, receiver, now), receiver }))
}

/** When the last hold ended under which something was due: steps begin again. */
const lastHoldEnded = (
  { firings }: FiringFacts,
  decided: ReadonlyArray<Decided>,
  now: Instant.Instant,
): Instant.Instant | undefined =>
  Instant.latest(
    decided.map(({ held, receiver }) => {
      const kept = held.find(({ becomes }) => becomes === "held" || becomes === "due")
      const inForce = kept?.becomes === "held" ? kept.holds.inForce : []
      const own = kept === undefined ? [] : firings.filter((item) => item.receiver === receiver)
      return Instant.latest(own.map((item) => holdEnded(item, inForce, now)))
    }),
  )

/** Steps that begin again end no hold: what was due before that was due under the holds that stay. */
const holdsOfDue = (decided: ReadonlyArray<Decided>): ReadonlyArray<HoldName> =>
  decided
    .flatMap(({ held }) => held.flatMap((one) => (one.becomes === "held" ? one.holds.inForce : [])))
    .flatMap(({ by, wasDue }) => (wasDue === true ? by : []))

/**
 * That an acknowledgement ran out, for receivers of earlier firings that this policy lacks. A server that has one sees no
 * end any more, and finds these rows, held until now.
 */
const ranOutElsewhere = (
  { firings, incident, receivers }: FiringFacts,
  now: Instant.Instant,
): ReadonlyArray<NewFiring> => {
  const acknowledgement = acknowledgementOf(incident)
  if (acknowledgement === undefined || now < acknowledgement.until) return []
  const isOver = overQuiet(incident, now)
  const others = firings.filter((item) => !receivers.has(item.receiver) && !canBeHeld(item) && !isOver(item))
  return Array.from(new Set(others.map(({ receiver }) => receiver)))
    .filter((receiver) => knownTo(incident, receiver, others) !== undefined)
    .map((receiver) => ({
      receiver,
      cause: "ack_ran_out",
      must_send: true,
      why: { by: acknowledgement.by },
      holds: { inForce: [{ by: "ack", until: now }], past: [] },
    }))
}

/** Decides on the firings of an open incident at a moment (docs/rules.md#evaluation). */
export const decideFirings = (facts: FiringFacts, now: Instant.Instant): Evaluation => {
  const { incident, naming } = facts
  const atFirst = decideAll(facts, now)
  const steps_began_at = Instant.latest([incident.steps_began_at, lastHoldEnded(facts, atFirst, now)])
  const isSame = steps_began_at === incident.steps_began_at
  const begun = () => ({
    ...facts,
    incident: { ...incident, steps_began_at },
    dueUnder: holdsOfDue(atFirst),
  })
  const decided = isSame ? atFirst : decideAll(begun(), now)
  const ackUntil = acknowledgementOf(incident)?.until
  return {
    written: [...decided.flatMap(({ written }) => written ?? []), ...ranOutElsewhere(facts, now)],
    held: decided.flatMap(({ held }) => held),
    steps_began_at,
    nextEvaluationAt: Instant.earliest([
      naming?.onCall?.nextChange,
      ackUntil !== undefined && now < ackUntil ? ackUntil : undefined,
      ...decided.map(({ next }) => next),
    ]),
  }
}
