import type { Effect, Stream } from "effect"
import type {
  BlacklistParameters,
  CheckListParameters,
  CheckName,
  HistoryParameters,
  IncidentListParameters,
  OutboxListParameters,
  Paging,
  Unpaged,
} from "../Parameters.ts"
import type {
  AcceptedResponse,
  ActionCount,
  Agent,
  AgentBlacklistItem,
  CheckExplanation,
  CheckState,
  EventBatchAcceptedResponse,
  EventBatchRequest,
  HeartbeatRequest,
  Incident,
  IncidentDetail,
  NotificationOutboxItem,
  NotifierTest,
  Page,
  StoredCheckResultEvent,
  SystemSummary,
} from "../Resources.ts"
import type { AnyCallCode, ClientErrorCode, ClientFailure } from "../TocsinClientError.ts"

/** What a call gives, or one of the codes that it can fail with. */
type Answer<A, Code extends ClientErrorCode = never> = Effect.Effect<
  A,
  ClientFailure<Code | AnyCallCode | "validation">
>
type OperatorCode = "unauthorized" | "forbidden" | "payload_too_large" | "internal"
type Read<A, Code extends ClientErrorCode = never> = Answer<A, Code | OperatorCode>
type Action<Code extends ClientErrorCode = never> = Answer<ActionCount, Code | OperatorCode>
type All<Item> = Stream.Stream<Item, Effect.Error<Read<Page<Item>>>>
type AgentCode = "unauthorized" | "agent_blocked" | "payload_too_large" | "internal"

/** A list that is read a page at a time, or whole. */
interface Listing<Item, Parameters extends Paging> {
  /** One page. */
  readonly list: (parameters?: Parameters) => Read<Page<Item>>
  /**
   * The items of all pages, read as they are asked for. Items that exist, and keep their place in the order, during the whole
   * walk are seen exactly once.
   */
  readonly all: (parameters?: Unpaged<Parameters>) => All<Item>
}

/**
 * The calls of the API. What goes in and comes out is what is on the wire: plain data, ids and moments as strings. Parameters
 * and bodies are checked before anything is sent, with the service's own words.
 */
export interface Calls {
  /**
   * Says that an agent is alive, under the client's agent key; registers the key if it is unknown: `accepted` tells whether an
   * operator has accepted it. Durable once it succeeds, safe to repeat, and repeated.
   */
  readonly heartbeat: (
    request: HeartbeatRequest,
  ) => Answer<AcceptedResponse, AgentCode | "conflict" | "rate_limited">
  /**
   * Sends 1 to 200 check results of one agent, taken all or none. Durable once it succeeds, safe to repeat, and repeated:
   * results that are known by their `event_id` count as deduplicated.
   */
  readonly events: (
    request: EventBatchRequest,
  ) => Answer<EventBatchAcceptedResponse, AgentCode | "agent_not_accepted">
  /** Agents, by agent_id. */
  readonly agents: Listing<Agent, Paging> & {
    readonly get: (agentId: string) => Read<Agent, "not_found">
    /** Accepts the agent's pending key; a count of 0 when nothing is pending. Compare the key's fingerprint first. */
    readonly accept: (agentId: string) => Action<"not_found">
    /** Blocks the agent's pending key, or else its accepted one. Not safe to repeat, and never repeated. */
    readonly block: (agentId: string) => Action<"not_found">
    /** Deletes the agent with its checks and their history. */
    readonly remove: (agentId: string) => Action<"not_found">
    /** Accepts all pending agents; replacement keys of accepted ones too with `include_rotation: true`. */
    readonly acceptAll: (parameters?: { readonly include_rotation?: boolean | undefined }) => Action
    /** Blocks all pending keys. Not safe to repeat, and never repeated. */
    readonly blockAll: () => Action
    /** Removes all pending agents. */
    readonly removeAll: () => Action
  }
  /** Blocked keys, latest first. */
  readonly blacklist: Listing<AgentBlacklistItem, BlacklistParameters> & {
    /** Deletes one row by its id, so that the key may register again; a count of 0 when there is none of that id. */
    readonly remove: (id: string) => Action
    readonly removeAll: () => Action
  }
  /** The present states of checks, by agent_id and check_id. */
  readonly checks: Listing<CheckState, CheckListParameters> & {
    /** Why a check is in the state it is in. */
    readonly explain: (check: CheckName) => Read<CheckExplanation, "not_found">
    /** Releases a check that an agent's clock in the future froze. */
    readonly resetClock: (check: CheckName) => Action<"not_found">
    /** Deletes a check that its agent no longer runs, with its history. */
    readonly remove: (check: CheckName) => Action<"not_found">
  }
  /** Results that changed their check, newest first. */
  readonly history: Listing<StoredCheckResultEvent, HistoryParameters>
  /** Open first, worst first, newest first, unless asked for otherwise. */
  readonly incidents: Listing<Incident, IncidentListParameters> & {
    /** One incident with its members, its story and its notifications. */
    readonly get: (id: string) => Read<IncidentDetail, "not_found">
  }
  /** Notifications; latest changed first unless asked for otherwise. */
  readonly outbox: Listing<NotificationOutboxItem, OutboxListParameters> & {
    /** Gives a failed notification another life, under the same id. */
    readonly replay: (id: string) => Action<"not_found" | "conflict">
  }
  readonly notifiers: {
    /** Sends a test message now through this notifier, and tells what its receiver said. */
    readonly test: (notifier: string) => Read<NotifierTest, "not_found">
  }
  /** Counts of agents, checks and open incidents; cheap to poll. */
  readonly summary: () => Read<SystemSummary>
  /** Whether the process answers. Needs no token; never repeated. */
  readonly health: () => Effect.Effect<{ readonly status: "ok" }, ClientFailure<AnyCallCode>>
  /** Whether the service can do its work now. Needs no token; never repeated. */
  readonly isReady: () => Effect.Effect<boolean, ClientFailure<AnyCallCode>>
}
