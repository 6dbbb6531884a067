import type {
  AgentId,
  BlacklistId,
  CheckId,
  EventId,
  IncidentId,
  OutboxId,
} from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { NotifierName } from "@tocsin/contract/Status"
import type { IncidentRecord, IncidentRef } from "../model/IncidentRecord.ts"
import type { Groups, KeyedName, Keys } from "../model/StoredTables.ts"
import type { AgentRecord } from "../model/AgentRecord.ts"
import type { Labels } from "@tocsin/contract/Labels"
import type { MemberRecord } from "../model/MemberRecord.ts"
import type { ServiceHeartbeatRecord } from "../model/ServiceHeartbeatRecord.ts"
import type { SilenceRecord } from "../model/SilenceRecord.ts"
import type { AlertRecord, OutboxRecord } from "../model/OutboxRecord.ts"

/** A search for what may hold the firings of other incidents: at most `limit` rows of each, by id. */
export interface ParentSearch {
  /** Open incidents with a present member of one of these agents; and the agents themselves. */
  readonly agents: ReadonlyArray<string>
  /** Open incidents with a present member of one of these checks. */
  readonly checks: ReadonlyArray<string>
  readonly keys: ReadonlyArray<string>
  /** Open incidents with a present member on one of these hosts. */
  readonly hostnames: ReadonlyArray<string>
  /** Open incidents with a present member that has these labels, of its check or of its agent. */
  readonly labelled: ReadonlyArray<{ readonly labels: Labels; readonly check_id: string | undefined }>
  readonly isAll: boolean
  /** Accepted agents without a heartbeat incident that were last seen by then. */
  readonly staleSince: Instant | undefined
  readonly limit: number
}

/**
 * Rows that a decision must see before it continues. Named rows that do not exist are known to be
 * absent afterwards. A search for the longest due finds rows of one time in the order of their ids, so that
 * a limit cuts alike on every storage. Storages lock in one order: agents by agent_id, which guard their keys, checks
 * and history; then incidents by id, which guard their members and outbox items.
 */
export interface RowRequest {
  readonly agents?: ReadonlyArray<AgentId>
  /**
   * Leaves those of `agents` unloaded that another transaction locks, instead of waiting. Has no
   * effect on storages whose transactions never wait for rows.
   */
  readonly skipLocked?: true
  /** Blocked keys by the IDs of their blacklist rows. */
  readonly blacklist?: ReadonlyArray<BlacklistId>
  /** Checks of an agent's present registration; the agent is in this request or loaded already. */
  readonly checks?: { readonly agent_id: AgentId; readonly check_ids: ReadonlyArray<CheckId> }
  /**
   * Which of these events are in the history of the agent's present registration; the agent is
   * loaded already.
   */
  readonly history?: { readonly agent_id: AgentId; readonly event_ids: ReadonlyArray<EventId> }
  /** Incidents with their alerts and their outbox items that are not discarded. */
  readonly incidents?: ReadonlyArray<IncidentId>
  /** The open incident of each key, with its alerts and outbox items. */
  readonly openIncidents?: ReadonlyArray<IncidentRef>
  /**
   * The first present members of an incident by `compareMembers`; the incident is loaded already.
   */
  readonly worstMembers?: { readonly incident_id: IncidentId; readonly limit: number }
  /**
   * The number of pending agents. Registrations wait for one another from here on, so that their
   * limit is exact.
   */
  readonly pendingAgents?: true
  /**
   * Outbox items of these receivers that can be claimed, with their incidents, unlocked. These are
   * items due by `now`, unless an earlier item of the same incident and receiver (by incident_seq, then id)
   * is pending, sending or to be retried; and items whose lease has expired by the storage's clock,
   * which is read in the same step. At most `limit` of each, longest due first (leases: the earliest
   * end first), then by id. Skips locked items, and items whose incident is gone. Never cached.
   */
  readonly claimableOutbox?: { readonly receivers: ReadonlyArray<NotifierName>; readonly limit: number }
  /**
   * The incidents of held outbox items of these receivers to be examined by `now`, the longest due first, then by the
   * items' ids, unlocked. Load their incidents to see and lock them. Never cached.
   */
  readonly heldOutbox?: NonNullable<RowRequest["claimableOutbox"]>
  /**
   * Open incidents whose `next_evaluation_at` has come by `now`, the longest due first, then by id, unlocked. Load them to
   * see and lock them. Never cached.
   */
  readonly dueIncidents?: { readonly limit: number }
  /** These incidents, as far as they exist, unlocked. Never cached. */
  readonly incidentsToRead?: ReadonlyArray<IncidentId>
  /** This outbox item, unlocked: the lock of its incident comes first. Never cached. */
  readonly itemToRead?: OutboxId
  /** The outbox items of these incidents that are not dropped, unlocked, in no order. Never cached. */
  readonly outboxToRead?: ReadonlyArray<IncidentId>
  /**
   * The first loud present members of incidents by `compareMembers`, at most `limit` of each, with their
   * agents, all unlocked. Never cached.
   */
  readonly loudMembers?: ReadonlyArray<{ readonly incident_id: IncidentId; readonly limit: number }>
  /** Incidents and agents among which parents are, unlocked. Never cached. */
  readonly parents?: ParentSearch
  /**
   * Items of receivers that are not `listed`: at most `limit` that are waiting, and at most `limit`
   * whose lease has ended. Items whose receiver is a notifier by its own name must have been so since
   * `untouchedSince`. In no order.
   */
  readonly unclaimedOutbox?: {
    readonly listed: ReadonlyArray<NotifierName>
    readonly untouchedSince: Instant
    readonly limit: number
  }
  /**
   * Alerts of a receiver, due by `now`, that no replica holds, as for `claimableOutbox`: longest due first,
   * then by incident and severity. Never cached.
   */
  readonly claimableAlerts?: { readonly receiver: NotifierName; readonly limit: number }
  /** Pending agents last seen at `seenBefore` or earlier, ascending by id; skips locked ones. */
  readonly idlePendingAgents?: { readonly seenBefore: Instant; readonly limit: number }
  /**
   * When the incidents of a key were opened, after `since` until `until`, the latest first, at most
   * `limit` of each. Never cached.
   */
  readonly openings?: ReadonlyArray<{
    readonly incident: IncidentRef & { readonly id: IncidentId }
    readonly since: Instant
    readonly until: Instant
    readonly limit: number
  }>
  /**
   * The silences that have begun by `now`, or by `begunBy`, and end after `endingAfter`, and the service
   * heartbeat, all unlocked. Never cached.
   */
  readonly silencesInForce?: { readonly endingAfter: Instant; readonly begunBy?: Instant | undefined }
  /** The silences that end after a moment, unlocked. A unit of work reads them once. */
  readonly silencesEndingAfter?: Instant
  /**
   * The silences that end after `now`, unlocked. Those who count them wait for one another from here
   * on, so that their limit is exact.
   */
  readonly unendedSilences?: true
  /**
   * Rows by key. A storage locks them as their tables declare; the incidents and agents that guard them are
   * in this request or loaded already.
   */
  readonly rows?: { readonly [N in KeyedName]?: ReadonlyArray<Keys[N]> }
  readonly groups?: { readonly [N in KeyedName]?: ReadonlyArray<Groups[N]> }
}

/** An outbox item or alert with its incident, unlocked, as of the search. */
export interface WithIncident<Row> {
  readonly row: Row
  readonly incident: IncidentRecord
}

/** A loud present member of an incident; its agent may have been deleted meanwhile. */
export interface LoudMember {
  readonly member: MemberRecord
  readonly agent: AgentRecord | undefined
  /** Those of its check. */
  readonly labels: Labels | undefined
}

/** Results of searches, in the storage's order. Each search replaces its previous result. */
export interface SearchResults {
  claimableOutbox: ReadonlyArray<WithIncident<OutboxRecord>>
  expiredOutbox: ReadonlyArray<OutboxRecord>
  /** The incidents of held items that are to be examined. */
  heldOutbox: ReadonlyArray<IncidentId>
  dueIncidents: ReadonlyArray<IncidentId>
  incidentsToRead: ReadonlyMap<IncidentId, IncidentRecord>
  itemToRead: OutboxRecord | undefined
  outboxToRead: ReadonlyArray<OutboxRecord>
  /** By incident, the worst first; an incident without a loud member is missing. */
  loudMembers: ReadonlyMap<IncidentId, ReadonlyArray<LoudMember>>
  /** Each once. */
  parents: { readonly incidents: ReadonlyArray<IncidentRecord>; readonly agents: ReadonlyArray<AgentRecord> }
  /** By incident. */
  openings: ReadonlyMap<IncidentId, ReadonlyArray<Instant>>
  /** The silences in force, and the service heartbeat, read together. */
  silencesInForce: ReadonlyArray<SilenceRecord>
  serviceHeartbeat: ServiceHeartbeatRecord | undefined
  unendedSilences: ReadonlyArray<SilenceRecord>
  unclaimedOutbox: ReadonlyArray<OutboxRecord>
  claimableAlerts: ReadonlyArray<WithIncident<AlertRecord>>
  idlePendingAgents: ReadonlyArray<AgentId>
  /** The storage's clock, read by `claimableOutbox` and `claimableAlerts`. */
  storageTime: Instant | undefined
}

export const NOTHING_FOUND: Readonly<SearchResults> = {
  claimableOutbox: [],
  expiredOutbox: [],
  heldOutbox: [],
  dueIncidents: [],
  incidentsToRead: new Map(),
  itemToRead: undefined,
  outboxToRead: [],
  loudMembers: new Map(),
  parents: { incidents: [], agents: [] },
  openings: new Map(),
  silencesInForce: [],
  serviceHeartbeat: undefined,
  unendedSilences: [],
  unclaimedOutbox: [],
  claimableAlerts: [],
  idlePendingAgents: [],
  storageTime: undefined,
}

/** Searches find rows instead of naming them. Nothing caches them: each runs on every request. */
export type Search = Extract<keyof RowRequest, keyof SearchResults>

/** How far down its ranking an incident's members are loaded. */
export interface LoadedRanking {
  readonly limit: number
  /** The last loaded member as stored: every current member that is not loaded ranks below it. */
  readonly floor: MemberRecord | undefined
  readonly complete: boolean
}
