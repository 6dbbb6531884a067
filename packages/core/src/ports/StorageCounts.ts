import { Schema } from "effect"
import type { Instant } from "@tocsin/contract/Instant"
import type { NotifierName, OutboxState, Severity } from "@tocsin/contract/Status"

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

/** Unbounded numbers of {@link MetricCounts} stop at this value, to bound their cost. */
export const CENSUS_LIMIT = 10_000

/** How many items of a backlog are looked at for the earliest, to bound its cost. */
export const AGED_ITEMS = 50

/** States of outbox items that are waiting or need an operator. */
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
  /** From 1 to {@link CENSUS_LIMIT}. */
  readonly items: number
  /** The earliest `age_starts_at`; storages may look at the {@link AGED_ITEMS} first created only. */
  readonly waiting_since: Instant
}

/** Counts for monitoring, beyond those of the summary. */
export interface MetricCounts {
  readonly agents_pending: number
  /** Accepted agents with a heartbeat incident. */
  readonly agents_dead: number
  readonly keys_blocked: number
  readonly incidents: Readonly<Record<Severity, number>>
  /** By notifier, then by state in the order of {@link BACKLOG_STATES}; without zeros. */
  readonly backlog: ReadonlyArray<Backlog>
}

export const isBacklogState = Schema.is(Schema.Literals(BACKLOG_STATES))

const rank = ({ state }: Backlog): number => BACKLOG_STATES.indexOf(state)

/** Orders a backlog. */
export const sortBacklog = (backlog: ReadonlyArray<Backlog>): ReadonlyArray<Backlog> =>
  backlog.toSorted((a, b) =>
    a.notifier === b.notifier ? rank(a) - rank(b) : a.notifier < b.notifier ? -1 : 1,
  )
