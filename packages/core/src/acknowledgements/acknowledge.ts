import { recordAudit } from "../audit/recordAudit.ts"
import type { Signature } from "../audit/Signature.ts"
import type { IncidentId } from "@tocsin/contract/Identifiers"
import * as Instant from "@tocsin/contract/Instant"
import type { Severity } from "@tocsin/contract/Status"
import { move } from "@tocsin/contract/TransitionTable"
import { commandOf, type Decision } from "../engine/workspace/Decision.ts"
import { ensure } from "../engine/workspace/ensure.ts"
import { lookSoon } from "../holds/heldItems.ts"
import type { Act, IncidentActRecord } from "../model/IncidentActRecord.ts"
import { recordAct } from "../incidents/recordAct.ts"
import type { IncidentRecord } from "../model/IncidentRecord.ts"
import {
  type Acknowledgement,
  acknowledgementOf,
  ackColumns,
  acknowledgementInForce,
  NOT_ACKNOWLEDGED,
} from "../model/Acknowledgement.ts"
import { type AcknowledgedUntil, endOf } from "./acknowledgedUntil.ts"
import { AcknowledgementTransitions } from "../model/AcknowledgementTransitions.ts"

/** Which incident to acknowledge, and until when. */
export interface AcknowledgeInput {
  readonly id: IncidentId
  readonly note: string | undefined
  readonly until: AcknowledgedUntil
  /** The severity that is meant; any if it is not named. */
  readonly severity: Severity | undefined
}

/** The result of an acknowledgement. */
export type AcknowledgeResult =
  | { readonly outcome: "acknowledged"; readonly acknowledgement: Acknowledgement }
  | { readonly outcome: "resolved" }
  | { readonly outcome: "unknown" }
  | { readonly outcome: "another_severity"; readonly severity: Severity }
  /** Its end has come while its transaction waited. */
  | { readonly outcome: "over" }

/** Acknowledges an open incident, or replaces its acknowledgement (docs/rules.md#acknowledgements). */
export const acknowledge = commandOf(function* (
  workspace,
  now,
  { id, note, severity, ...input }: AcknowledgeInput,
  by: Signature,
): Decision<AcknowledgeResult> {
  yield* ensure(workspace, { incidents: [id] })
  const incident = workspace.incidents.get(id)
  if (incident === undefined) return { outcome: "unknown" }
  if (incident.state !== "open") return { outcome: "resolved" }
  if (severity !== undefined && severity !== incident.severity)
    return { outcome: "another_severity", severity: incident.severity }
  const { actor } = by
  const until = endOf(input.until, now)
  if (until <= now) return { outcome: "over" }
  const acknowledged = incident.severity
  const acknowledgement: Acknowledgement = { by: actor, note, at: now, until, severity: acknowledged }
  move(AcknowledgementTransitions, standingOf(incident), "acknowledged")
  const act: Act = { act: "acknowledged", actor, text: note, ack_until: until, severity: acknowledged }
  const next_look_at = Instant.min(until, incident.next_look_at ?? until)
  recordAct(workspace, { ...incident, ...ackColumns(acknowledgement), next_look_at }, act, now)
  recordAudit(workspace, now, by, "incident.acknowledged", [id], {
    until: Instant.format(until),
    severity: acknowledged,
    note,
  })
  // Another one may end sooner, or hold less.
  lookSoon(workspace, id, now)
  return { outcome: "acknowledged", acknowledgement }
})

const standingOf = (incident: IncidentRecord): "none" | "acknowledged" =>
  acknowledgementOf(incident) === undefined ? "none" : "acknowledged"

/** Withdraws the acknowledgement of an incident. Returns how many it withdrew; nothing if there is no such incident. */
export const withdraw = commandOf(function* (
  workspace,
  now,
  id: IncidentId,
  by: Signature,
): Decision<number | undefined> {
  yield* ensure(workspace, { incidents: [id] })
  const incident = workspace.incidents.get(id)
  if (incident === undefined) return undefined
  if (incident.state !== "open" || acknowledgementInForce(incident, now) === undefined) return 0
  move(AcknowledgementTransitions, "acknowledged", "withdrawn")
  const withdrawn = { ...incident, ...NOT_ACKNOWLEDGED, next_look_at: now }
  recordAct(workspace, withdrawn, { act: "withdrawn", actor: by.actor }, now)
  recordAudit(workspace, now, by, "incident.acknowledgement_withdrawn", [id], {})
  lookSoon(workspace, id, now)
  return 1
})

/** Adds a note to the story of an incident, open or resolved; nothing if there is no such incident. */
export const note = commandOf(function* (
  workspace,
  now,
  id: IncidentId,
  text: string,
  by: Signature,
): Decision<IncidentActRecord | undefined> {
  yield* ensure(workspace, { incidents: [id] })
  const incident = workspace.incidents.get(id)
  if (incident === undefined) return undefined
  recordAudit(workspace, now, by, "incident.noted", [id], { text })
  return recordAct(workspace, incident, { act: "noted", actor: by.actor, text }, now)
})
