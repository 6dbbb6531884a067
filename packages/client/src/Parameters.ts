import type { Headers, Path, Query } from "./calls/endpoints.ts"

/**
 * Paging of a list. `limit` is 1 to 500, and 100 unless given. `cursor` is the `next_cursor` of a
 * page, or with `back: true` its `prev_cursor`.
 */
export interface Paging extends Query<"listAgents"> {}

/** The filters and the order of a list that is read whole: no place in it. */
export type Unpaged<Parameters extends Paging> = Omit<Parameters, "cursor" | "back">

/** Paging of the blacklist, which has no way back. */
export interface BlacklistParameters extends Query<"listBlacklist"> {}

/** Words, filters and paging of agents that are found. */
export interface FoundAgentListParameters extends Query<"findAgents"> {}

/** Filters and paging of checks. */
export interface CheckListParameters extends Query<"listChecks"> {}

/** Filters and paging of checks that must report; `is_overdue` selects overdue ones. */
export interface ExpectedCheckListParameters extends Query<"listExpectedChecks"> {}

/** The checks and the span of which to state the availability, and paging. */
export interface AvailabilityParameters extends Query<"listAvailability"> {}

/** Filters and paging of stored results. */
export interface HistoryParameters extends Query<"queryEvents"> {}

/**
 * Filters, order and paging of incidents. `agent_id` and `check_id` select those in which this
 * agent, this check, or this check of this agent is or was a member. `sort` is `status` unless
 * given: open first, worst first, newest first. `direction` is `desc` unless given.
 */
export interface IncidentListParameters extends Query<"listIncidents"> {}

/**
 * Filters, order and paging of notifications. `sort` is `updated_at` unless given, `direction` is
 * `desc`.
 */
export interface OutboxListParameters extends Query<"listOutbox"> {}

/** The same, of acknowledged incidents only, or of others only. */
export interface HeldIncidentListParameters extends Query<"listHeldIncidents"> {}

/** The same, of notifications that a hold was found on when last examined, or of others only. */
export interface HeldOutboxListParameters extends Query<"listHeldOutbox"> {}

/** Filters and paging of the audit. `from` is included, `to` is not. */
export interface AuditListParameters extends Query<"listAudit"> {}
/** The state that silences are in, and paging. */
export interface SilenceListParameters extends Query<"listSilences"> {}

/** Whether a silence is only previewed. */
export interface SilenceCreationParameters extends Query<"createSilence"> {}

/** How long until now a policy is tried for, as `since`. */
export interface PolicyTrialParameters extends Query<"tryPolicy"> {}

/** The hash of the only policy that another one may replace, as `if-match`, and whether many firings are meant. */
export interface PolicyApplicationParameters extends Query<"applyPolicy">, Headers<"applyPolicy"> {}

/** Which agents are accepted. */
export interface AcceptAllParameters extends Query<"acceptAll"> {}

/** One check of one agent. */
export interface CheckName extends Path<"removeCheck"> {}
