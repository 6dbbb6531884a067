import type * as Instant from "@tocsin/contract/formats/Instant"
import type { FiringCause, NotifierName, Severity } from "@tocsin/contract/formats/Status"
import { acknowledgementOf } from "../model/Acknowledgement.ts"
import { reachedAt } from "../model/Announced.ts"
import type { Reason } from "../model/Reason.ts"
import type { FiringFacts } from "./FiringFacts.ts"
import type { IncidentNaming } from "./nameReceivers.ts"
import type { Situation } from "./situation.ts"
import { pagedBy, stepBefore } from "./steps.ts"

/** The facts of a worsening. */
export const worsenedFrom = (cause: FiringCause, was: Severity | undefined): Reason | undefined =>
  cause === "worsened" && was !== undefined ? { was } : undefined

/** The facts of an escalation to a receiver that stands beside others. */
export const besideOf = (
  { onCall }: IncidentNaming,
  receiver: NotifierName,
  rotas: ReadonlyArray<NotifierName> = [],
): Reason | undefined => {
  const beside = onCall?.lostBefore(receiver, rotas) ?? []
  return beside.length > 0 ? { beside } : undefined
}

/** Whether a receiver is owed a firing since it came on call, not since its event. */
export const comesLate = (
  { due, isOwed, receiver, step }: Situation,
  { incident, naming }: Pick<FiringFacts, "incident" | "naming">,
): boolean => {
  const { announced } = incident
  if (!isOwed || step?.rotas === undefined || announced === undefined) return false
  const came = naming?.onCall?.lastCame(receiver, step.rotas)
  const owedSince = due?.at ?? reachedAt(incident, announced)
  return came !== undefined && (owedSince === undefined || owedSince < came.at)
}

/** The facts by which a message says why a firing comes, and for which steps it stands. */
export const reasonOf = (
  situation: Situation,
  cause: FiringCause,
  facts: FiringFacts,
  now: Instant.Instant,
): Reason | undefined => {
  const why = statedReason(situation, cause, facts, now)
  const paged = pagedBy(situation.moments, now)
  return paged === undefined ? why : { ...why, paged }
}

/** Of several reasons, the first (docs/rules.md#why-a-message-comes). */
const statedReason = (
  situation: Situation,
  cause: FiringCause,
  facts: FiringFacts,
  now: Instant.Instant,
): Reason | undefined => {
  const { known, receiver, refused, step } = situation
  const held = situation.held ?? refused
  const isAgain = held !== undefined && (held === refused || held.repaired_by !== undefined)
  const { incident, naming } = facts
  const rotas = step?.rotas ?? []
  const beside = cause === "escalation" && naming ? besideOf(naming, receiver, rotas) : undefined
  if (beside !== undefined) return beside
  // Its receiver counts as knowing it, so it does not become owed now.
  if (isAgain && held.cause === cause && held.why?.rota !== undefined) return held.why
  const comes = cause === "handover" || comesLate(situation, facts)
  const came = comes ? naming?.onCall?.lastCame(receiver, rotas) : undefined
  if (came !== undefined) return { rota: came.rota, since: Number(came.at) }
  // The facts of its row count where the incident no longer shows it.
  if (cause === "worsened") return worsenedFrom(cause, held?.why?.was ?? known)
  if (cause === "escalation") {
    const begun = stepBefore(situation.moments, now)?.begun
    return begun === undefined ? held?.why : { since: Number(begun) }
  }
  if (cause !== "ack_ran_out") return undefined
  const by = acknowledgementOf(incident)?.by
  return by === undefined ? held?.why : { by }
}
