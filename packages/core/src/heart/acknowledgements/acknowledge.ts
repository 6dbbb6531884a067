import { Duration, Result } from "effect"
import { recordAudit, recordLogEntry, type Signature } from "../audit/recordAudit.ts"
import type { IncidentId, OutboxId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Severity, NotifierName } from "@tocsin/contract/formats/Status"
import type { Language } from "@tocsin/contract/languages/Language"
import { move } from "@tocsin/contract/formats/TransitionTable"
import {
  commandOf,
  type Decision,
  load,
  loneCommandOf,
  type LoneDecision,
} from "../../kernel/unitOfWork/Decision.ts"
import { find } from "../../kernel/unitOfWork/Search.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import {
  type IncidentLogRecord,
  type IncidentRecord,
  type LogEntry,
  soonOf,
} from "../model/IncidentRecord.ts"
import {
  ackColumns,
  type Acknowledgement,
  acknowledgementInForce,
  acknowledgementOf,
  AcknowledgementTransitions,
  endedAcknowledgement,
} from "../model/Acknowledgement.ts"
import type { AcknowledgeRequest } from "@tocsin/contract/acknowledgements/Acknowledgements"
import { formatDuration } from "@tocsin/contract/formats/DurationText"
import type { RuleOptions } from "../../kernel/ports/RuleSettings.ts"
import { beginQuiet, endQuiet } from "../firings/Hold.ts"
import { isBelow } from "../model/MemberRecord.ts"
import { isUnended, type OutboxRecord, wasAttempted } from "../model/OutboxRecord.ts"
import { loadItem } from "../notifications/release.ts"
import { toNotification } from "../notifications/claimOutbox.ts"
import type { DeliveryAttempt } from "../notifications/Notifiers.ts"

/** When an acknowledgement ends: at a moment, or so long after the moment at which it is recorded. */
type AcknowledgedUntil = Instant.Instant | { readonly for: Duration.Duration }

/** The end of an acknowledgement that is recorded at a moment. */
const endOf = (until: AcknowledgedUntil, at: Instant.Instant): Instant.Instant =>
  typeof until === "bigint" ? until : Instant.plus(at, until.for)

/** The end that a request asks for, within the settings (docs/rules.md#acknowledgements). */
export const acknowledgedUntil = (
  request: Pick<AcknowledgeRequest, "for" | "until">,
  rules: Pick<RuleOptions, "acknowledgedFor" | "longestAcknowledgement">,
  now: Instant.Instant,
): Result.Result<AcknowledgedUntil, string> => {
  if (request.for !== undefined && request.until !== undefined)
    return Result.fail("for and until exclude each other; give one of them")
  const until = request.until ?? { for: request.for ?? rules.acknowledgedFor }
  const end = endOf(until, now)
  if (end <= now) return Result.fail("until must be in the future")
  if (end > Instant.LATEST) return Result.fail("until must be before the year 10000")
  const longest = rules.longestAcknowledgement
  const field = request.until === undefined ? "for" : "until"
  return end > Instant.plus(now, longest)
    ? Result.fail(
        `${field} must not make the acknowledgement longer than ${formatDuration(longest)} (SERVICE_ACK_MAX, or longestAcknowledgement in a program); acknowledge again later`,
      )
    : Result.succeed(until)
}

/** The faults of acknowledgement lengths, one sentence each. */
export const acknowledgementProblems = ({
  acknowledgedFor,
  longestAcknowledgement,
}: Pick<RuleOptions, "acknowledgedFor" | "longestAcknowledgement">): ReadonlyArray<string> =>
  Duration.isGreaterThan(acknowledgedFor, longestAcknowledgement)
    ? ["acknowledgedFor must not be longer than longestAcknowledgement"]
    : []

/** Which incident to acknowledge, and until when. */
export interface AcknowledgeInput {
  readonly id: IncidentId
  readonly note: string | undefined
  readonly until: AcknowledgedUntil
  /** The severity that is meant; any if it is not named. */
  readonly severity: Severity | undefined
}

type AcknowledgeResult =
  | { readonly outcome: "acknowledged"; readonly acknowledgement: Acknowledgement }
  | { readonly outcome: "resolved" }
  | { readonly outcome: "unknown" }
  | { readonly outcome: "another_severity"; readonly severity: Severity }
  /** Its end has come while its transaction waited. */
  | { readonly outcome: "over" }

/** Acknowledges an open incident, or replaces its acknowledgement (docs/rules.md#acknowledgements). */
export const acknowledge = commandOf(function* (
  unit,
  { id, note, severity, ...input }: AcknowledgeInput,
  by: Signature,
): Decision<AcknowledgeResult> {
  yield* load(unit, { incidents: [id] })
  const incident = unit.incidents.get(id)
  if (incident === undefined) return { outcome: "unknown" }
  if (incident.state !== "open") return { outcome: "resolved" }
  if (severity !== undefined && severity !== incident.severity)
    return { outcome: "another_severity", severity: incident.severity }
  const until = endOf(input.until, unit.now)
  if (until <= unit.now) return { outcome: "over" }
  const acknowledgement: Acknowledgement = {
    by: by.actor,
    note,
    at: unit.now,
    until,
    severity: incident.severity,
  }
  putAcknowledgement(unit, incident, acknowledgement, by)
  return { outcome: "acknowledged", acknowledgement }
})

/** Acknowledges an open incident, for its timeline and the audit. */
export const putAcknowledgement = (
  unit: UnitOfWork,
  incident: IncidentRecord,
  acknowledgement: Acknowledgement,
  by: Signature,
): void => {
  const { at: now, note, severity, until } = acknowledgement
  move(AcknowledgementTransitions, ackStateOf(incident), "acknowledged")
  const action: LogEntry = {
    action: "acknowledged",
    actor: by.actor,
    text: note,
    ack_until: until,
    severity,
  }
  beginQuiet(unit, incident, acknowledgementInForce(incident, now)?.at ?? now)
  // Another one may have held more, or longer.
  const next_evaluation_at = soonOf(incident, now)
  recordLogEntry(unit, { ...incident, ...ackColumns(acknowledgement), next_evaluation_at }, action)
  recordAudit(unit, by, "incident.acknowledged", [incident.id], {
    until: Instant.format(until),
    severity,
    note,
  })
}

const ackStateOf = (incident: IncidentRecord): "none" | "acknowledged" =>
  acknowledgementOf(incident) === undefined ? "none" : "acknowledged"

/** Withdraws the acknowledgement of an incident. Returns how many it withdrew; nothing if there is no such incident. */
export const withdraw = commandOf(function* (unit, id: IncidentId, by: Signature) {
  yield* load(unit, { incidents: [id] })
  const incident = unit.incidents.get(id)
  if (incident === undefined) return undefined
  if (incident.state !== "open" || acknowledgementInForce(incident, unit.now) === undefined) return 0
  withdrawFrom(unit, incident, by)
  return 1
})

/** Withdraws the acknowledgement of an incident, which has one in force. */
export const withdrawFrom = (unit: UnitOfWork, incident: IncidentRecord, by: Signature): void => {
  move(AcknowledgementTransitions, "acknowledged", "withdrawn")
  const { now } = unit
  const withdrawn = { ...incident, ...endedAcknowledgement(now), next_evaluation_at: soonOf(incident, now) }
  endQuiet(unit, incident)
  recordLogEntry(unit, withdrawn, { action: "withdrawn", actor: by.actor })
  recordAudit(unit, by, "incident.acknowledgement_withdrawn", [incident.id], {})
}

/** Adds a note to the timeline of an incident, open or resolved; nothing if there is no such incident. */
export const note = commandOf(function* (unit, id: IncidentId, text: string, by: Signature) {
  yield* load(unit, { incidents: [id] })
  const incident = unit.incidents.get(id)
  return incident && putNote(unit, incident, text, by)
})

/** Adds a note to the timeline of an incident. */
export const putNote = (
  unit: UnitOfWork,
  incident: IncidentRecord,
  text: string,
  by: Signature,
): IncidentLogRecord => {
  recordAudit(unit, by, "incident.noted", [incident.id], { text })
  return recordLogEntry(unit, incident, { action: "noted", actor: by.actor, text })
}

interface FollowInput {
  readonly id: OutboxId
  /** Whether to acknowledge; otherwise nothing changes. */
  readonly isPressed: boolean
  /** How long links to this receiver acknowledge; nothing if they do not, or no more. */
  readonly lengthOf: (receiver: NotifierName) => Duration.Duration | undefined
}

/** Why a link has ended: its incident resolved, its receiver has no such links any more, or its message is too old. */
export type EndOfLink = "resolved" | "removed" | "old"

/** The state of a link. */
export type FollowedLink =
  | {
      readonly outcome: "ended"
      readonly reason: EndOfLink
      /** Absent once retention has removed the message. */
      readonly receiver?: NotifierName | undefined
      readonly lang?: Language | undefined
    }
  | {
      /** `worse`: the incident is worse than the message stated, so the link acknowledges nothing. */
      readonly outcome: "open" | "acknowledged" | "worse"
      /** The notification as it was sent, with the incident as it is now. */
      readonly notification: DeliveryAttempt
      readonly acknowledgement: Acknowledgement | undefined
      readonly severity: Severity
      readonly for: Duration.Duration
      /** Whether it acknowledged just now. */
      readonly isNew?: true
    }

/** How long a link works once its message was sent. */
const WORKS_FOR = Duration.days(7)

/** A message whose row another one replaced may have arrived. */
const hasEnded = (item: OutboxRecord, now: Instant.Instant): boolean =>
  item.event_type !== "firing" ||
  !wasAttempted(item) ||
  (!isUnended(item) && now >= Instant.plus(item.updated_at, WORKS_FOR))

/**
 * Follows the link in a message (docs/rules.md#links): shows it, or acknowledges its incident at the severity
 * that the message stated, unless an acknowledgement at that severity is in force.
 */
function* follow(
  unit: UnitOfWork,
  { id, isPressed, lengthOf }: FollowInput,
  by: Omit<Signature, "actor">,
): LoneDecision<FollowedLink> {
  const { now } = unit
  const item = yield* loadItem(unit, id)
  const length = item && lengthOf(item.receiver)
  // Retention removes a row once its incident has resolved.
  if (item === undefined) return { outcome: "ended", reason: "resolved" }
  const { receiver, severity } = item
  if (length === undefined) return { outcome: "ended", reason: "removed", receiver }
  const incident = unit.incidents.get(item.incident_id)
  if (incident?.state !== "open") return { outcome: "ended", reason: "resolved", receiver }
  if (hasEnded(item, now)) return { outcome: "ended", reason: "old", receiver }
  const inForce = acknowledgementInForce(incident, now)
  const notification = toNotification(item, incident, { due_at: now, now })
  const view = { notification, severity: incident.severity, for: length }
  if (isBelow(severity, incident.severity)) return { ...view, outcome: "worse", acknowledgement: inForce }
  if (inForce !== undefined && !isBelow(inForce.severity, severity))
    return { ...view, outcome: "acknowledged", acknowledgement: inForce }
  if (!isPressed) return { ...view, outcome: "open", acknowledgement: inForce }
  const actor = `link:${receiver}`
  const until = Instant.plus(now, length)
  const acknowledgement = { by: actor, note: undefined, at: now, until, severity }
  putAcknowledgement(unit, incident, acknowledgement, { ...by, actor })
  return { ...view, outcome: "acknowledged", acknowledgement, isNew: true }
}

export const followLink = loneCommandOf(follow)

/** Follows the key of a call: the link of its first row, and those of the others that it was about. */
export const followCall = loneCommandOf(function* (
  unit,
  input: FollowInput,
  by: Omit<Signature, "actor">,
): LoneDecision<ReadonlyArray<FollowedLink>> {
  const first = yield* find("itemToRead", input.id)
  const others: Array<OutboxId> = []
  const incidents = first === undefined ? [] : [first.incident_id]
  for (const id of first?.called_with ?? []) {
    const item = yield* find("itemToRead", id)
    others.push(id)
    if (item !== undefined) incidents.push(item.incident_id)
  }
  if (incidents.length > 0) yield* load(unit, { incidents: Array.from(new Set(incidents)).toSorted() })
  const links: Array<FollowedLink> = []
  for (const id of [input.id, ...others]) links.push(yield* follow(unit, { ...input, id }, by))
  return links
})
