import type {
  AgentId,
  BlacklistId,
  CheckId,
  EventId,
  IncidentId,
  KeyHash,
  OutboxId,
} from "../../contract/Identifiers.ts"
import type { Instant } from "../../contract/Instant.ts"
import type { NotifierName } from "../../contract/Status.ts"
import type { IncidentRef } from "../../incidents/IncidentRecord.ts"
import type { MemberRef } from "../../incidents/MemberRecord.ts"
import type { AlertRef } from "../../notifications/OutboxRecord.ts"

/**
 * Rows that a decision must see before it goes on. What is named and does not exist is known to be absent afterwards.
 * Storages that lock do so in one order: agents by agent_id, which guards their keys, checks and history; then incidents
 * by id, which guards their members and outbox items.
 */
export interface RowRequest {
  readonly agents?: ReadonlyArray<AgentId>
  /**
   * Leaves those of `agents` unloaded that another transaction holds, instead of waiting for it. Means nothing to a storage
   * whose transactions never wait for each other's rows.
   */
  readonly passesHeld?: true
  /** Keys by hash, whatever their state and agent. */
  readonly keys?: ReadonlyArray<KeyHash>
  /** All keys of these agents that are not blocked. */
  readonly keysOfAgents?: ReadonlyArray<AgentId>
  /** Blocked keys by the ids of their blacklist rows. */
  readonly blacklist?: ReadonlyArray<BlacklistId>
  /** Checks of an agent's present registration; the agent is in this request or loaded already. */
  readonly checks?: { readonly agent_id: AgentId; readonly check_ids: ReadonlyArray<CheckId> }
  /** Which of these event ids are in the history of the agent's present registration; the agent is loaded already. */
  readonly history?: { readonly agent_id: AgentId; readonly event_ids: ReadonlyArray<EventId> }
  /** Incidents with their outbox items, but for discarded ones, and their alerts. */
  readonly incidents?: ReadonlyArray<IncidentId>
  /** For each key the open incident, likewise with its outbox items and alerts. */
  readonly openIncidents?: ReadonlyArray<IncidentRef>
  /** Memberships, past and present; their incidents are in this request or loaded already. */
  readonly members?: ReadonlyArray<MemberRef>
  /** All present memberships of these agents, without their incidents. */
  readonly membersOfAgents?: ReadonlyArray<AgentId>
  /** The first present members of an incident in the order of `compareMembers`; the incident is loaded already. */
  readonly worstMembers?: { readonly incident_id: IncidentId; readonly limit: number }
  /** The number of pending agents; registrations wait for one another from here on, so that their limit is exact. */
  readonly pendingAgents?: true
  /** Outbox items by id, without their incidents. */
  readonly outboxItems?: ReadonlyArray<OutboxId>
  /**
   * Outbox items of these notifiers that can be claimed, with a look at their incidents: those due by `now` of which no
   * earlier item of the same incident and notifier (by incident_seq) is pending, sending or to be retried; and those whose
   * lease ran out by the storage's own clock, which is read in the same step. At most `limit` of each, longest due first. An item
   * whose incident is gone is never due, and takes none of those places.
   * Items that another transaction holds are passed over, not waited for. Always read anew.
   */
  readonly claimableOutbox?: { readonly notifiers: ReadonlyArray<NotifierName>; readonly limit: number }
  /**
   * Items of these notifiers that are pending or to be retried and were last touched before `untouchedSince`, and those being
   * sent whose lease ended before it; at most `limit` of each.
   */
  readonly abandonedOutbox?: {
    readonly notifiers: ReadonlyArray<NotifierName>
    readonly untouchedSince: Instant
    readonly limit: number
  }
  /** Alerts to be sent again by `now` that no replica holds, as for `claimableOutbox`. Always read anew. */
  readonly claimableAlerts?: { readonly limit: number }
  readonly alerts?: ReadonlyArray<AlertRef>
  /** Pending agents last seen at `seenBefore` or earlier, passing over held ones. */
  readonly idlePendingAgents?: { readonly seenBefore: Instant; readonly limit: number }
  /** The service's sign of life; replicas wait for one another. */
  readonly mark?: true
}
