import type { NotificationType, OutboxState, Severity } from "./Resources.ts"

/** How a list is paged. */
export interface Paging {
  /** The `next_cursor` of a page, or its `prev_cursor` with `back: true`. */
  readonly cursor?: string | undefined
  /** Whether to return the page before. */
  readonly back?: boolean | undefined
  /** How many items a page holds at most: 1 to 500; 100 unless given. */
  readonly limit?: number | undefined
}

/** What narrows a list of all pages: everything but the place in it. */
export type Unpaged<Parameters extends Paging> = Omit<Parameters, "cursor" | "back">

/** The blacklist knows no way back. */
export type BlacklistParameters = Omit<Paging, "back">

/** Which checks. */
export interface CheckListParameters extends Paging {
  readonly agent_id?: string | undefined
}

/** Which stored results, newest first. */
export interface HistoryParameters extends Paging {
  readonly agent_id?: string | undefined
  readonly check_id?: string | undefined
}

/** Which incidents, in which order. */
export interface IncidentListParameters extends Paging {
  readonly state?: "open" | "resolved" | undefined
  readonly severity?: Severity | undefined
  /** Those in which this agent, this check, or this check of this agent is or was a member. */
  readonly agent_id?: string | undefined
  readonly check_id?: string | undefined
  /** `status` unless given: open first, worst first, newest first. */
  readonly sort?: "status" | "opened_at" | "resolved_at" | undefined
  /** `desc` unless given. */
  readonly direction?: "asc" | "desc" | undefined
}

/** Which notifications, in which order. */
export interface OutboxListParameters extends Paging {
  readonly state?: OutboxState | undefined
  /** As in the contract: the four kinds. */
  readonly notifier?: "debug" | "messenger" | "webhook" | "alert_router" | undefined
  readonly event_type?: NotificationType | undefined
  /** `updated_at` unless given. */
  readonly sort?: "created_at" | "updated_at" | undefined
  /** `desc` unless given. */
  readonly direction?: "asc" | "desc" | undefined
}

/** One check of one agent. */
export interface CheckName {
  readonly agent_id: string
  readonly check_id: string
}
