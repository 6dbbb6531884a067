import type { AgentId, BlacklistId, CheckId, EventId, IncidentId, KeyHash } from "../contract/Identifiers.ts"
import type { IncidentRef } from "../incidents/IncidentRecord.ts"
import type { MemberRef } from "../incidents/MemberRecord.ts"

/**
 * Rows that a decision must see before it goes on. What is named and does not exist is known to be absent afterwards.
 * Storages that lock do so in one order: agents by agent_id, which guards their keys, checks and history; then incidents
 * by id, which guards their members and outbox items.
 */
export interface Scope {
  readonly agents?: ReadonlyArray<AgentId>
  /** Keys by hash, whatever their state and agent. */
  readonly keys?: ReadonlyArray<KeyHash>
  /** All keys of these agents that are not blocked. */
  readonly keysOfAgents?: ReadonlyArray<AgentId>
  /** Blocked keys by the ids of their blacklist rows. */
  readonly blacklist?: ReadonlyArray<BlacklistId>
  /** Checks of an agent's present registration; the agent is in this scope or loaded already. */
  readonly checks?: { readonly agent_id: AgentId; readonly check_ids: ReadonlyArray<CheckId> }
  /** Which of these event ids are in the history of the agent's present registration; the agent is loaded already. */
  readonly history?: { readonly agent_id: AgentId; readonly event_ids: ReadonlyArray<EventId> }
  /** Incidents with their outbox items, but for discarded ones. */
  readonly incidents?: ReadonlyArray<IncidentId>
  /** For each key the open incident, likewise with its outbox items. */
  readonly openIncidents?: ReadonlyArray<IncidentRef>
  /** Memberships, past and present; their incidents are in this scope or loaded already. */
  readonly members?: ReadonlyArray<MemberRef>
  /** All present memberships of these agents, without their incidents. */
  readonly membersOfAgents?: ReadonlyArray<AgentId>
  /** The first present members of an incident in the order of `compareMembers`; the incident is loaded already. */
  readonly worstMembers?: { readonly incident_id: IncidentId; readonly limit: number }
  /** The number of pending agents; registrations wait for one another from here on, so that their limit is exact. */
  readonly pendingAgents?: true
}
