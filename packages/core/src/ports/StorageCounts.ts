import { Schema } from "effect"
import type { Instant } from "../contract/Instant.ts"
import type { NotifierName, OutboxState, Severity } from "../contract/Status.ts"

/** The counts of the summary; pending agents are neither online nor offline. */
export interface SummaryCounts {
  readonly agents_online: number
  readonly agents_offline: number
  readonly checks_ok: number
  readonly checks_warning: number
  readonly checks_critical: number
  readonly checks_unknown: number
  readonly open_incidents: number
}

/** Each number of a {@link MetricCounts} that may grow without bound is counted up to this: beyond it, how many more is no news. */
export const CENSUS_LIMIT = 10_000

/** The states of outbox items that somebody waits for, or has to look at. Ended ones are history, as many as are kept. */
export const BACKLOG_STATES = [
  "pending",
  "sending",
  "retry",
  "failed",
] as const satisfies ReadonlyArray<OutboxState>
export type BacklogState = (typeof BACKLOG_STATES)[number]

/** Outbox items of one notifier in one state. */
export interface Backlog {
  readonly notifier: NotifierName
  readonly state: BacklogState
  /** At least 1, {@link CENSUS_LIMIT} at most. */
  readonly items: number
  /** When the oldest of them was enqueued. */
  readonly oldest_created_at: Instant
}

/** Counts for those who watch the service; none of them is in the summary. */
export interface MetricCounts {
  readonly agents_pending: number
  /** Accepted agents that have a heartbeat incident. */
  readonly agents_dead: number
  readonly keys_blocked: number
  readonly incidents: Readonly<Record<Severity, number>>
  /** By notifier, then by state in the order of {@link BACKLOG_STATES}; what there is none of is absent. */
  readonly backlog: ReadonlyArray<Backlog>
}

/** Whether a text is a state of the backlog. */
export const isBacklogState = Schema.is(Schema.Literals(BACKLOG_STATES))

const rank = ({ state }: Backlog): number => BACKLOG_STATES.indexOf(state)

/** Puts a backlog in its order. */
export const sortBacklog = (backlog: ReadonlyArray<Backlog>): ReadonlyArray<Backlog> =>
  backlog.toSorted((a, b) =>
    a.notifier === b.notifier ? rank(a) - rank(b) : a.notifier < b.notifier ? -1 : 1,
  )
