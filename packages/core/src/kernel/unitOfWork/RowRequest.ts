import type { AgentId, CheckId, EventId, IncidentId } from "@tocsin/contract/formats/Identifiers"
import type { IncidentRef } from "../../heart/model/IncidentRecord.ts"
import type { Groups, KeyedName, Keys } from "../../lists/StoredTables.ts"
import type { MemberRecord } from "../../heart/model/MemberRecord.ts"

/**
 * Rows that a decision must see before it continues. Named rows that do not exist are known to be
 * absent afterwards. Storages lock in one order: agents by agent_id, which guard their keys, checks
 * and history; then incidents by id, which guard their members and outbox items.
 */
export interface RowRequest {
  readonly agents?: ReadonlyArray<AgentId>
  /**
   * Leaves those of `agents` unloaded that another transaction locks, instead of waiting. Has no
   * effect on storages whose transactions never wait for rows.
   */
  readonly skipLocked?: true
  /** Checks of an agent's present registration; the agent is in this request or loaded already. */
  readonly checks?: { readonly agent_id: AgentId; readonly check_ids: ReadonlyArray<CheckId> }
  /** Which of these events are in the history of the agent's present registration; the agent is loaded already. */
  readonly history?: { readonly agent_id: AgentId; readonly event_ids: ReadonlyArray<EventId> }
  /** Incidents with their alerts and their outbox items that were not discarded untried. */
  readonly incidents?: ReadonlyArray<IncidentId>
  /** The open incident of each key, with its alerts and outbox items. */
  readonly openIncidents?: ReadonlyArray<IncidentRef>
  /** The first present members of an incident by `compareMembers`; the incident is loaded already. */
  readonly worstMembers?: { readonly incident_id: IncidentId; readonly limit: number }
  /** The number of pending agents. Registrations wait for one another from here on, so that their limit is exact. */
  readonly pendingAgents?: true
  /**
   * Rows by key. A storage locks them as their tables declare; the incidents and agents that guard them are
   * in this request or loaded already.
   */
  readonly rows?: { readonly [N in KeyedName]?: ReadonlyArray<Keys[N]> }
  readonly groups?: { readonly [N in KeyedName]?: ReadonlyArray<Groups[N]> }
}

/** How far down its ranking an incident's members are loaded. */
export interface LoadedRanking {
  readonly limit: number
  /** The last loaded member as stored: every current member that is not loaded ranks below it. */
  readonly floor: MemberRecord | undefined
  readonly complete: boolean
}
