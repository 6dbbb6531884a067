import { Schema } from "effect"
import { NonNegativeInteger } from "@tocsin/contract/formats/Fields"
import { AgentId, IncidentId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import { type Instant, InstantFromString } from "@tocsin/contract/formats/Instant"
import { IncidentDetail } from "@tocsin/contract/incidents/IncidentDetail"
import { Incident } from "@tocsin/contract/v1/Resources"
import { FiringCause, NotificationType, NotifierName, Severity } from "@tocsin/contract/formats/Status"
import type { RuleOptions } from "@tocsin/core/kernel/ports/RuleSettings"

/** The settings of the simulated service; absent ones have the defaults. */
export interface SimulationSettings extends Partial<
  Pick<
    RuleOptions,
    | "notifiers"
    | "staleAfter"
    | "deadAfter"
    | "policy"
    | "acknowledgedFor"
    | "longestAcknowledgement"
    | "longestSilence"
  >
> {
  /** When the clock stops; by default at the last receipt, because nothing is known of agents after it. */
  readonly until?: Instant | undefined
}

/** An incident as the API shows it, with its changes, oldest first. */
export const SimulatedIncident = Schema.Struct({
  ...Incident.fields,
  timeline: IncidentDetail.fields.timeline,
})
export type SimulatedIncident = typeof SimulatedIncident.Type

/** The holds of a firing: `ack`, `after`, `silence:NAME` as the input names it, or `window:NAME`. */
const heldBy = Schema.Array(Schema.String)

/** A notification, taken as delivered by its first attempt. */
export const SimulatedNotification = Schema.Struct({
  at: InstantFromString,
  notifier: NotifierName,
  event_type: NotificationType,
  /** Why a firing was sent; null for a resolved. */
  cause: Schema.NullOr(FiringCause),
  severity: Severity,
  summary: Schema.NullOr(Schema.String),
  incident_id: IncidentId,
  incident_key: IncidentKey,
  /** Of the only member; null with several. */
  agent_id: Schema.NullOr(AgentId),
  check_id: Schema.NullOr(Schema.String),
  /** How many checks are in the incident at that moment. */
  members: NonNegativeInteger,
  /** With a policy or log entries, as the next two. */
  receiver: Schema.optionalKey(NotifierName),
  /** 0 if nothing held it. */
  held_for_seconds: Schema.optionalKey(Schema.Number),
  held_by: Schema.optionalKey(heldBy),
})
export type SimulatedNotification = typeof SimulatedNotification.Type

/** A firing that was held until it was discarded, or until the end. */
export const UnsentFiring = Schema.Struct({
  /** When it was discarded, or the end of the simulation. */
  at: InstantFromString,
  enqueued_at: InstantFromString,
  notifier: NotifierName,
  receiver: NotifierName,
  cause: Schema.NullOr(FiringCause),
  severity: Severity,
  incident_id: IncidentId,
  incident_key: IncidentKey,
  /**
   * `resolved`: the incident resolved first. `replaced`: a later firing of the incident took its
   * place. `still_held`: it waited when the simulation ended.
   */
  reason: Schema.Literals(["resolved", "replaced", "still_held"]),
  held_for_seconds: Schema.Number,
  held_by: heldBy,
})
export type UnsentFiring = typeof UnsentFiring.Type

export const RefusedLine = Schema.Struct({ line: Schema.Int, reason: Schema.String })
export type RefusedLine = typeof RefusedLine.Type

/** An expectation of a story, and the messages that it counts. */
const JudgedExpectation = Schema.Struct({
  line: Schema.Int,
  kind: Schema.Literals(["expect", "expect_none", "expect_at_most"]),
  receiver: NotifierName,
  event: Schema.optionalKey(NotificationType),
  cause: Schema.optionalKey(FiringCause),
  incident_key: Schema.optionalKey(IncidentKey),
  /** With `expect_at_most`. */
  count: Schema.optionalKey(NonNegativeInteger),
  from: InstantFromString,
  until: InstantFromString,
  messages: NonNegativeInteger,
  holds: Schema.Boolean,
})
export type JudgedExpectation = typeof JudgedExpectation.Type

/** The result of a simulation. In JSON, moments are texts, as in the API. */
export const SimulationReport = Schema.Struct({
  /** The first receipt, and when the clock stopped; null without input. */
  from: Schema.NullOr(InstantFromString),
  until: Schema.NullOr(InstantFromString),
  agents: NonNegativeInteger,
  heartbeats: NonNegativeInteger,
  results: NonNegativeInteger,
  /** The results that changed their check. */
  changes: NonNegativeInteger,
  /** In the order in which they opened. */
  incidents: Schema.Array(SimulatedIncident),
  /** In the order in which they would have been sent. */
  notifications: Schema.Array(SimulatedNotification),
  /** With a policy or log entries: firings that were not sent, in the order in which that was decided. */
  unsent: Schema.optionalKey(Schema.Array(UnsentFiring)),
  /** With expectations in the input, in the order of their lines. */
  expectations: Schema.optionalKey(Schema.Array(JudgedExpectation)),
  refused: Schema.Array(RefusedLine),
})
export type SimulationReport = typeof SimulationReport.Type
