import { Duration, Effect } from "effect"
import { AcknowledgementTransitions, endedAcknowledgement } from "../model/Acknowledgement.ts"
import { forget, forgetsAt } from "../model/Announced.ts"
import type { Chore, ChoreServices } from "../../kernel/engine/commits/Chore.ts"
import { recordAudit, recordLogEntry, type Signature, systemSignature } from "../audit/recordAudit.ts"
import type { IncidentId } from "@tocsin/contract/formats/Identifiers"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import * as Instant from "@tocsin/contract/formats/Instant"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { load, loneCommandOf, type LoneDecision } from "../../kernel/unitOfWork/Decision.ts"
import { find } from "../../kernel/unitOfWork/Search.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { decideFirings } from "../firings/decideFirings.ts"
import type { Evaluation, FiringFacts, HeldFiring } from "../firings/FiringFacts.ts"
import { type FiringOptions, gatherFacts } from "../firings/gatherFacts.ts"
import { firstPiece, MOST_EVALUATED } from "../firings/loudMembers.ts"
import { endQuiet, freed, heldItem } from "../firings/Hold.ts"
import type { IncidentOptions } from "../incidents/incidentOptions.ts"
import { idlePause } from "../../kernel/ports/IdlePause.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import { discarded, type OutboxRecord } from "../model/OutboxRecord.ts"
import { enqueueFiring, type EnqueueOptions, putInOrder } from "../notifications/enqueue.ts"
import type { FiringCount } from "@tocsin/contract/policy/Policies"
import type { Commits } from "../../kernel/engine/commits/Commits.ts"
import { eachPage, OPEN_INCIDENTS } from "../../kernel/engine/lists/readPage.ts"
import type { Storage } from "../../kernel/ports/Storage.ts"

/**
 * Evaluates incidents that are due, or have a held firing that is, at most `limit` of each; returns whether
 * there may be more, and how many it found. Another replica may have been first: each is judged once it is locked.
 */
export const evaluateDueIncidents = loneCommandOf(function* (unit, options: IncidentOptions, limit: number) {
  // Items of receivers that this policy lacks are left alone, and would be found again.
  const receivers = Array.from(options.policy().receivers.keys())
  const dueIncidents = yield* find("dueIncidents", { limit })
  const heldOutbox = yield* find("heldOutbox", { receivers, limit })
  const ids = Array.from(new Set([...dueIncidents, ...heldOutbox]))
  const { left } = yield* evaluate(unit, options, ids)
  const isMore = left.length > 0 || dueIncidents.length >= limit || heldOutbox.length >= limit
  return { found: ids.length, isMore }
})

// A firing is sent within 15 s of its time, or of the end of its hold (docs/rules.md#evaluation).
export const EVALUATE_EVERY = Duration.seconds(5)

export const evaluationChore = ({ commits, pieces }: ChoreServices, options: IncidentOptions): Chore => ({
  name: "evaluating incidents",
  pause: idlePause(EVALUATE_EVERY),
  piece: Effect.map(
    commits.transact(evaluateDueIncidents(options, pieces.incidents)),
    ({ isMore }) => isMore,
  ),
})

interface EvaluatedPiece {
  /** The receiver of each firing that is due immediately. */
  readonly due: ReadonlyArray<NotifierName>
  /** The incidents that are left for another transaction. */
  readonly left: ReadonlyArray<IncidentId>
}

/** Occasions of an evaluation that no row states. */
type Occasion = Pick<FiringFacts, "repaired">

interface DecidedIncident {
  readonly incident: IncidentRecord
  readonly evaluation: Evaluation
}

/** Decides on as many of these incidents as one transaction evaluates, due or not. Writes nothing. */
function* decide(
  unit: UnitOfWork,
  options: FiringOptions,
  ids: ReadonlyArray<IncidentId>,
  occasion?: Occasion,
): LoneDecision<EvaluatedPiece & { readonly decided: ReadonlyArray<DecidedIncident> }> {
  if (ids.length === 0) return { decided: [], due: [], left: [] }
  // Incidents are locked before their outbox items, everywhere; their locks guard their members.
  yield* load(unit, { incidents: ids })
  const found = ids.flatMap((id) => unit.incidents.get(id) ?? [])
  const piece = firstPiece(found, MOST_EVALUATED)
  const { facts } = yield* gatherFacts(unit, piece, options, unit.now)
  const decided = piece.map((incident) => ({
    incident,
    evaluation: decideFirings({ ...facts(incident, unit.outbox.group(incident.id)), ...occasion }, unit.now),
  }))
  const due = decided.flatMap(({ evaluation: { held, written } }) => [
    ...written.filter(({ holds }) => holds.inForce.length === 0).map(({ receiver }) => receiver),
    ...held.filter(({ becomes }) => becomes === "due").map(({ item }) => item.receiver),
  ])
  return { decided, due, left: found.slice(piece.length).map(({ id }) => id) }
}

const previewEvaluation = loneCommandOf(decide)

function* evaluate(
  unit: UnitOfWork,
  options: IncidentOptions,
  ids: ReadonlyArray<IncidentId>,
  occasion?: Occasion,
): LoneDecision<EvaluatedPiece> {
  const { decided, ...piece } = yield* decide(unit, options, ids, occasion)
  const { newAuditId, policy } = options
  const evaluating = { ...options, policy: policy(), now: unit.now, by: systemSignature(newAuditId) }
  for (const one of decided) writeEvaluation(unit, one, evaluating)
  return piece
}

export const evaluateIncidents = loneCommandOf(evaluate)

interface EvaluateOptions extends EnqueueOptions {
  readonly by: Signature
}

/** Writes what is due, moves what was held, and sets the time of the next evaluation. */
const writeEvaluation = (
  unit: UnitOfWork,
  { evaluation, incident: before }: DecidedIncident,
  options: EvaluateOptions,
): void => {
  const { now, policy } = options
  const { held, nextEvaluationAt, steps_began_at, written } = evaluation
  const hasAckRunOut = before.ack_until !== undefined && before.ack_until <= now
  const after = hasAckRunOut ? endAcknowledgement(unit, before, options) : before
  const began = Instant.latest([steps_began_at, after.steps_began_at])
  const columns = forget(after, { now, againAfter: policy.againAfter })
  const next_evaluation_at = Instant.earliest([nextEvaluationAt, forgetsAt(columns, policy.againAfter)])
  const incident = { ...after, ...columns, next_evaluation_at, steps_began_at: began }
  const hasForgotten =
    before.left_critical_at !== columns.left_critical_at || before.left_unknown_at !== columns.left_unknown_at
  const isMoved = before.next_evaluation_at !== next_evaluation_at || before.steps_began_at !== began
  if (hasAckRunOut || hasForgotten || isMoved) unit.incidents.put(incident)
  for (const firing of held) {
    const item = asEvaluated(firing, incident, now)
    if (item !== undefined) putInOrder(unit, item, now)
  }
  for (const firing of written) enqueueFiring(unit, incident, firing, options)
}

/** A held firing as an evaluation leaves it; absent if that changes nothing. */
const asEvaluated = (
  firing: HeldFiring,
  incident: IncidentRecord,
  now: Instant.Instant,
): OutboxRecord | undefined => {
  const { item } = firing
  if (firing.becomes === "restated") return item
  if (firing.becomes === "discarded") return discarded(item, firing.because, now)
  if (firing.becomes === "due") return freed(item, incident, "hold_ended", { now, past: firing.past })
  const held = heldItem(item, firing.holds, now)
  const isSame =
    !firing.isRestated &&
    item.next_evaluation_at === held.next_evaluation_at &&
    JSON.stringify(item.holds) === JSON.stringify(held.holds)
  return isSame ? undefined : held
}

const endAcknowledgement = (
  unit: UnitOfWork,
  incident: IncidentRecord,
  { by }: EvaluateOptions,
): IncidentRecord => {
  move(AcknowledgementTransitions, "acknowledged", "ran_out")
  const unacknowledged = { ...incident, ...endedAcknowledgement(incident.ack_until) }
  // Also at receivers that another server's policy alone has.
  endQuiet(unit, incident)
  const { seq } = recordLogEntry(unit, unacknowledged, { action: "ran_out", actor: by.actor })
  recordAudit(unit, by, "incident.acknowledgement_expired", [incident.id], {})
  return { ...unacknowledged, log_entries: seq }
}

/** A policy that would send more firings than this to one receiver immediately must be confirmed. */
export const MOST_UNCONFIRMED = 100

/** Counts firings by their receivers, the most first. */
export const countByReceiver = (due: ReadonlyArray<NotifierName>): ReadonlyArray<FiringCount> => {
  const counts = new Map<NotifierName, number>()
  for (const receiver of due) counts.set(receiver, (counts.get(receiver) ?? 0) + 1)
  return Array.from(counts, ([receiver, count]) => ({ receiver, count })).toSorted(
    (a, b) => b.count - a.count || (a.receiver < b.receiver ? -1 : 1),
  )
}

/**
 * Counts the firings that each receiver would get immediately under a policy, by the evaluations of all open
 * incidents (docs/rules.md#evaluation), in bounded pieces. Writes nothing.
 */
export const countFirings = Effect.fnUntraced(function* (
  storage: Storage["Service"],
  { transact }: Pick<Commits["Service"], "transact">,
  options: FiringOptions,
) {
  const due: Array<NotifierName> = []
  yield* eachPage(
    storage,
    OPEN_INCIDENTS,
    Effect.fnUntraced(function* (rows) {
      let left: ReadonlyArray<IncidentId> = rows.map(({ id }) => id)
      while (left.length > 0) {
        const piece = yield* transact(previewEvaluation(options, left))
        for (const receiver of piece.due) due.push(receiver)
        left = piece.left
        yield* Effect.yieldNow
      }
    }),
  )
  return countByReceiver(due)
})
