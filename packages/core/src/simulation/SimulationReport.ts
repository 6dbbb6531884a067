import { Schema } from "effect"
import { NonNegativeInteger } from "../contract/Fields.ts"
import { AgentId, IncidentId, IncidentKey } from "../contract/Identifiers.ts"
import { type Instant, InstantFromString } from "../contract/Instant.ts"
import { Incident } from "../contract/Resources.ts"
import { NotificationType, NotifierName, Severity } from "../contract/Status.ts"
import type { PolicyOptions } from "../ports/Policy.ts"

/** What a simulation supposes of the service; what is absent is as in a service with nothing set. */
export interface SimulationSettings extends Partial<Pick<PolicyOptions, "notifiers" | "deadAfter">> {
  /**
   * How long the clock goes on. To the last receipt unless given: whether agents fell silent after the recording's end is
   * not known.
   */
  readonly until?: Instant | undefined
}

/** What a simulation needs besides: pure functions of the ports. */
export interface SimulationPorts {
  /** As `Hashing.sha256`: names incidents of agents and checks whose names are longer than a key may be. */
  readonly sha256: (text: string) => string
}

const Change = Schema.Struct({
  at: InstantFromString,
  change: Schema.Literals(["joined", "worsened", "improved", "left"]),
  agent_id: AgentId,
  // Wider than CheckId: an agent that fell silent is the member @heartbeat.
  check_id: Schema.String,
  /** The member's; of one that left, the last it had. */
  severity: Severity,
  /** The incident's afterwards; null when it resolved. */
  incident_severity: Schema.NullOr(Severity),
})

/** An incident as the API shows it, with what happened to it, oldest first. */
export const SimulatedIncident = Schema.Struct({ ...Incident.fields, timeline: Schema.Array(Change) })
export type SimulatedIncident = typeof SimulatedIncident.Type

/** A notification that would have been sent, taken as delivered by its first attempt. */
export const SimulatedNotification = Schema.Struct({
  at: InstantFromString,
  notifier: NotifierName,
  event_type: NotificationType,
  severity: Severity,
  summary: Schema.NullOr(Schema.String),
  incident_id: IncidentId,
  incident_key: IncidentKey,
  /** Of the only member; null with several. */
  agent_id: Schema.NullOr(AgentId),
  check_id: Schema.NullOr(Schema.String),
  /** How many checks are in the incident at that moment. */
  members: NonNegativeInteger,
})
export type SimulatedNotification = typeof SimulatedNotification.Type

/** A line that was left out, with the reason for a person. */
export const RefusedLine = Schema.Struct({ line: Schema.Int, reason: Schema.String })
export type RefusedLine = typeof RefusedLine.Type

/** What would have come of the lines. On the wire (JSON) moments are texts, as in the API. */
export const SimulationReport = Schema.Struct({
  /** The first receipt, and the moment at which the clock stopped; null where there was nothing to simulate. */
  from: Schema.NullOr(InstantFromString),
  until: Schema.NullOr(InstantFromString),
  agents: NonNegativeInteger,
  heartbeats: NonNegativeInteger,
  results: NonNegativeInteger,
  /** Of the results, those that changed their check. */
  changes: NonNegativeInteger,
  /** In the order in which they opened. */
  incidents: Schema.Array(SimulatedIncident),
  /** In the order in which they would have been sent. */
  notifications: Schema.Array(SimulatedNotification),
  refused: Schema.Array(RefusedLine),
})
export type SimulationReport = typeof SimulationReport.Type
