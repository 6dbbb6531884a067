/// <reference lib="es2024.string" />
import { Duration } from "effect"
import { putAcknowledgement, putNote, withdrawFrom } from "../../heart/acknowledgements/acknowledge.ts"
import type { Signature } from "../../heart/audit/recordAudit.ts"
import { applyResults } from "../../heart/checks/applyBatch.ts"
import type { BatchInput } from "../../heart/checks/applyEvent.ts"
import { LONGEST_NOTE } from "@tocsin/contract/acknowledgements/Acknowledgements"
import * as Instant from "@tocsin/contract/formats/Instant"
import { move } from "@tocsin/contract/formats/TransitionTable"
import { type Decision, load } from "../../kernel/unitOfWork/Decision.ts"
import type { UnitOfWork } from "../../kernel/unitOfWork/UnitOfWork.ts"
import { acknowledgementInForce } from "../../heart/model/Acknowledgement.ts"
import type { AgentRecord } from "../../heart/model/AgentRecord.ts"
import type { CheckRecord } from "../../heart/model/CheckRecord.ts"
import type { IncidentRecord } from "../../heart/model/IncidentRecord.ts"
import type { IntegrationRecord } from "./IntegrationRecord.ts"
import { memberCount } from "../../heart/model/MemberRecord.ts"
import type { RuleOptions } from "../../kernel/ports/RuleSettings.ts"
import { PagedAlertTransitions } from "./PagedAlert.ts"
import { resultOf } from "./alerts.ts"
import { type Act, eventOf, NOTHING_EXPECTED } from "./Report.ts"
import { durationOf } from "./sources.ts"

export interface Acting extends Omit<BatchInput, "request">, Pick<RuleOptions, "longestAcknowledgement"> {
  readonly agent: AgentRecord
  readonly integration: Pick<IntegrationRecord, "name" | "options">
}

/** The open incident of a check, if all of its present members are checks of this integration. */
function* ownIncident(unit: UnitOfWork, { incident_id }: CheckRecord, { agent }: Acting) {
  if (incident_id === undefined) return undefined
  yield* load(unit, { incidents: [incident_id] })
  const incident = unit.incidents.get(incident_id)
  if (incident === undefined) return undefined
  yield* load(unit, { worstMembers: { incident_id, limit: memberCount(incident) } })
  const members = unit.membersOf(incident_id)
  return members.every(({ agent_id }) => agent_id === agent.agent_id) ? incident : undefined
}

const signatureOf = ({ incidents: { newAuditId }, integration: { name } }: Acting): Signature => ({
  actor: `integration:${name}`,
  via: "api",
  request_id: undefined,
  newAuditId,
})

const stateOf = (incident: IncidentRecord | undefined, actor: string, now: Instant.Instant) => {
  const by = incident && acknowledgementInForce(incident, now)?.by
  if (by === undefined) return "firing"
  return by === actor ? "acknowledged" : "taken_over"
}

// oxlint-disable-next-line no-control-regex -- These are the characters to replace.
const CONTROLS = /(?!\r?\n)[\u0000-\u001f]/gu

/** A sender's note as an operator may write it, which every storage keeps; a longer one is cut. */
const noteOf = (text: string, longest: number): string | undefined => {
  const plain = text.toWellFormed().replaceAll(CONTROLS, " ")
  // A code point has at most two units.
  const characters = Array.from(plain.slice(0, 2 * longest + 2))
  if (characters.length > longest) return `${characters.slice(0, longest - 1).join("")}…`
  return plain === "" ? undefined : plain
}

/** Does what a request says of an alert beside whether it fires. Needs the agent and the check. */
export function* actOnAlert(unit: UnitOfWork, { check_id, part, text = "", trigger }: Act, acting: Acting) {
  const { agent, integration, longestAcknowledgement } = acting
  const { now } = unit
  const { agent_id, registration_id } = agent
  const check = unit.checks.get({ agent_id, registration_id, check_id })
  if (check === undefined || check.status === "ok") return
  if (trigger === "amended") return yield* amend(unit, { check, part, text }, acting)
  const incident = yield* ownIncident(unit, check, acting)
  if (incident === undefined) return
  const by = signatureOf(acting)
  const state = stateOf(incident, by.actor, now)
  const length = Duration.min(durationOf(integration.options, "acknowledged_for"), longestAcknowledgement)
  if (trigger === "noted") {
    const note = noteOf(text, LONGEST_NOTE.timeline)
    if (note !== undefined) putNote(unit, incident, note, by)
  } else if (trigger === "acknowledged") {
    if (Duration.isZero(length) || state === "taken_over") return
    move(PagedAlertTransitions, state, trigger)
    const until = Instant.plus(now, length)
    const note = noteOf(text.replaceAll(/\s+/gu, " "), LONGEST_NOTE.acknowledgement)
    putAcknowledgement(
      unit,
      incident,
      { by: by.actor, note, at: now, until, severity: incident.severity },
      by,
    )
  } else if (state === "acknowledged") {
    move(PagedAlertTransitions, state, trigger)
    withdrawFrom(unit, incident, by)
  }
}

/** Shows another message or description of an alert that fires: its status stays. */
function* amend(
  unit: UnitOfWork,
  { check, part, text }: { readonly check: CheckRecord; readonly part: Act["part"]; readonly text: string },
  { agent, ...rest }: Acting,
): Decision<void> {
  const { agent_id, check_id, exit_code, status, summary = "" } = check
  const [first = "", ...others] = summary.split("\n")
  const lines = part === "first" ? [text, ...others] : [first, text]
  const shown = resultOf(check_id, status, lines.join("\n"), NOTHING_EXPECTED)
  const event = eventOf({ ...shown, exit_code }, unit.now)
  yield* applyResults(unit, agent, { ...rest, request: { agent_id, events: [event] } })
}
