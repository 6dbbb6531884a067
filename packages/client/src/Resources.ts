/**
 * What goes over the wire, as plain data: ids are strings and moments ISO 8601 strings in UTC, as the v1 contract writes
 * them (`2026-01-31T08:30:00.000Z`; six fraction digits where the last three are not zero). Tests hold these types to be
 * those of the contract's schemas.
 */

/** What a check reported. */
export type CheckStatus = "ok" | "warning" | "critical" | "unknown"
/** How bad an incident is: critical is above unknown, unknown above warning. */
export type Severity = "warning" | "critical" | "unknown"
/** Where a notification is on its way. */
export type OutboxState = "pending" | "sending" | "sent" | "retry" | "failed" | "discarded"
/** What a notification says of its incident. */
export type NotificationType = "firing" | "resolved"

/** What an agent can do. */
export interface AgentFeatures {
  /** It pushes heartbeats and events. */
  readonly push: boolean
  /** It exposes a text-based metrics endpoint. */
  readonly metrics: boolean
}

/** A sign of life of one agent. */
export interface HeartbeatRequest {
  /** 1 to 128 letters, digits or `. _ : -`. */
  readonly agent_id: string
  /** When the agent made it, by its own clock: RFC 3339 in UTC. */
  readonly observed_at: string
  /** 1 to 253 characters. */
  readonly hostname: string
  readonly features: AgentFeatures
  /** At most 32; keys of 64 and values of 256 characters. Keys that look like secrets are refused. */
  readonly labels?: { readonly [name: string]: string }
}

/** One result of one check, as its agent sends it. */
export interface CheckResultEvent {
  /** Lower-case UUID version 7: what a repeated delivery is recognised by. */
  readonly event_id: string
  readonly check_id: string
  /** When the check ran, by the agent's clock. */
  readonly observed_at: string
  readonly status: CheckStatus
  readonly exit_code: number
  /** Milliseconds. */
  readonly duration_ms: number
  /** At most 8192 bytes of UTF-8. */
  readonly output?: string
  /** Whether the agent cut the output; false unless given. */
  readonly output_truncated?: boolean
  /** When false, nobody is told because of this event; true unless given. */
  readonly notifications_enabled?: boolean
  /** What checks of one incident share; their own agent and check unless given. */
  readonly incident_key?: string
}

/** Results of one agent in their order, applied all or none. */
export interface EventBatchRequest {
  readonly agent_id: string
  /** 1 to 200. */
  readonly events: ReadonlyArray<CheckResultEvent>
}

/** What a heartbeat is answered with. */
export interface AcceptedResponse {
  /** Whether an operator has accepted the key that was used. */
  readonly accepted: boolean
}

/** What a batch is answered with; the two add up to its events. */
export interface EventBatchAcceptedResponse {
  /** Events that were stored as a change of status. */
  readonly accepted: number
  /** Events that repeated what was known, or came late. */
  readonly deduplicated: number
}

/** How many rows an action concerned. */
export interface ActionCount {
  readonly count: number
}

/** One page of a list. */
export interface Page<Item> {
  readonly items: ReadonlyArray<Item>
  /** Pass as `cursor` for the next page; null where there is none. */
  readonly next_cursor?: string | null
  /** Pass as `cursor` with `back: true` for the page before; null on the first page. */
  readonly prev_cursor?: string | null
}

/** An agent, as operators see it. */
export interface Agent {
  readonly agent_id: string
  readonly hostname: string
  /** By when it was last heard of, by the server's clock. */
  readonly status: "alive" | "stale" | "dead"
  readonly admission_state: "pending" | "accepted"
  /** Whether a pending key would replace an accepted one. */
  readonly rotation_pending?: boolean
  /** 16 hex digits: what to compare with the agent's own print of its key. */
  readonly key_fingerprint?: string | null
  readonly last_seen_at: string
  readonly features: AgentFeatures
  readonly labels?: { readonly [name: string]: string }
}

/** A blocked agent key. */
export interface AgentBlacklistItem {
  /** What deletes the row: 64 characters. */
  readonly id: string
  readonly key_fingerprint: string
  readonly agent_id: string
  readonly hostname: string
  readonly created_at: string
  readonly last_seen_at: string
}

/** The current state of one check. */
export interface CheckState {
  readonly agent_id: string
  readonly check_id: string
  readonly status: CheckStatus
  readonly last_observed_at: string
  readonly exit_code?: number
  readonly incident_key?: string
  /** The output of the newest result. */
  readonly summary?: string
}

/** A result that changed its check, as stored. */
export interface StoredCheckResultEvent extends CheckResultEvent {
  readonly agent_id: string
  /** When it arrived, by the server's clock. */
  readonly received_at: string
}

/** Checks that are or were not ok, gathered under one key. */
export interface Incident {
  readonly id: string
  readonly incident_key: string
  readonly state: "open" | "resolved"
  readonly severity: Severity
  /** The only member's; absent with several. */
  readonly agent_id?: string
  readonly check_id?: string
  readonly opened_at: string
  /** Null while it is open. */
  readonly resolved_at?: string | null
  /** First line of the output of the worst, latest member. */
  readonly summary?: string
}

/** One notification on its way to one notifier. */
export interface NotificationOutboxItem {
  /** The same for every attempt. */
  readonly id: string
  /** The notifier's name. */
  readonly notifier: string
  readonly state: OutboxState
  readonly incident_id: string
  readonly event_type: NotificationType
  readonly attempts: number
  readonly next_attempt_at?: string | null
  readonly last_error?: string | null
  readonly updated_at?: string
}

/** Counts that hold at `generated_at`. */
export interface SystemSummary {
  readonly agents_online: number
  readonly agents_offline: number
  readonly checks_ok: number
  readonly checks_warning: number
  readonly checks_critical: number
  readonly checks_unknown: number
  readonly open_incidents: number
  readonly generated_at: string
}

/** A check that is or was in an incident. */
export interface IncidentMember {
  readonly agent_id: string
  readonly check_id: string
  readonly severity: Severity
  readonly summary: string | null
  readonly joined_at: string
  /** Null while it is a member. */
  readonly left_at: string | null
}

/** One line of an incident's story. */
export interface IncidentTimelineEntry {
  readonly at: string
  readonly change: "joined" | "worsened" | "improved" | "left"
  readonly agent_id: string
  readonly check_id: string
  /** The member's; of one that left, the last it had. */
  readonly severity: Severity
  /** The incident's afterwards; null when it resolved. */
  readonly incident_severity: Severity | null
}

/** One incident with its story, and at most 200 of its members and notifications. */
export interface IncidentDetail {
  readonly incident: Incident
  /** Present ones first, worst first. */
  readonly members: ReadonlyArray<IncidentMember>
  /** Newest first. Of more than 1,000 changes, the first 100 and the last 900. */
  readonly timeline: ReadonlyArray<IncidentTimelineEntry>
  /** How many changes the timeline leaves out. */
  readonly timeline_left_out: number
  /** Newest first. */
  readonly deliveries: ReadonlyArray<NotificationOutboxItem>
}

/** Why a check is in the state it is in. */
export interface CheckExplanation {
  readonly agent: Agent
  readonly check: CheckState
  /** What holds, a sentence each. */
  readonly reasons: ReadonlyArray<string>
  readonly received_at: string
  readonly age_seconds: number
  /** Arrival minus `observed_at`; negative where the agent's clock is ahead. */
  readonly skew_seconds: number
  readonly last_change: StoredCheckResultEvent | null
  readonly incident: Incident | null
}

/** What the receiver of a test message said. */
export interface NotifierTest {
  /** `deferred`: a notification would be tried again; `refused`: it would not. */
  readonly outcome: "delivered" | "deferred" | "refused"
  /** The receiver's HTTP status, where there was one. */
  readonly status: number | null
  readonly error: string | null
}
