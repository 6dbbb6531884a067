import type {
  EventBatchRequest,
  HeartbeatRequest,
  Incident,
  IncidentTimelineEntry,
  NotificationType,
  Page,
  Severity,
  StoredCheckResultEvent,
} from "@tocsin/client/Resources"
import type { DurationOption } from "../options/Problems.ts"

/** When the service got something. */
interface Received {
  /** RFC 3339 in UTC. */
  readonly received_at: string
}

/**
 * What a service received: a heartbeat or a batch with the moment of its receipt beside its fields, a stored result as
 * `monitor.history` and GET /api/v1/events/query list them, or a page of these. As text, one of them as JSON.
 */
export type SimulationInput =
  | (HeartbeatRequest & Received)
  | (EventBatchRequest & Received)
  | StoredCheckResultEvent
  | Page<StoredCheckResultEvent>
  | string

/** What a simulation supposes of the service. */
export interface SimulationOptions {
  /** Names of the notifiers that are told. `["debug"]` unless given. */
  readonly notifiers?: ReadonlyArray<string> | undefined
  /** An agent not heard of for so long is dead, and an incident opens. 5 minutes unless given. */
  readonly deadAfter?: DurationOption | undefined
  /** How long the clock goes on: RFC 3339 in UTC. To the last receipt unless given. */
  readonly until?: string | undefined
}

/** An incident, with what happened to it, oldest first. */
export interface SimulatedIncident extends Incident {
  readonly timeline: ReadonlyArray<IncidentTimelineEntry>
}

/** A notification that would have been sent, taken as delivered by its first attempt. */
export interface SimulatedNotification {
  readonly at: string
  readonly notifier: string
  readonly event_type: NotificationType
  readonly severity: Severity
  readonly summary: string | null
  readonly incident_id: string
  readonly incident_key: string
  /** Of the only member; null with several. */
  readonly agent_id: string | null
  /** `@heartbeat` of an agent that fell silent. */
  readonly check_id: string | null
  /** How many checks are in the incident at that moment. */
  readonly members: number
}

/** What would have come of the input. */
export interface Simulation {
  /** The first receipt, and the moment at which the clock stopped; null where there was nothing to simulate. */
  readonly from: string | null
  readonly until: string | null
  readonly agents: number
  readonly heartbeats: number
  readonly results: number
  /** Of the results, those that changed their check. */
  readonly changes: number
  /** In the order in which they opened. */
  readonly incidents: ReadonlyArray<SimulatedIncident>
  /** In the order in which they would have been sent. */
  readonly notifications: ReadonlyArray<SimulatedNotification>
  /** What was left out: its place in the input, from 1, and why. */
  readonly refused: ReadonlyArray<{ readonly line: number; readonly reason: string }>
}
