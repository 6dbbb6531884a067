import type { EstablishedName, EvaluatedName, KeyedName, KeyedRows, Keys } from "../../lists/StoredTables.ts"
import { Context, type Duration, type Effect, Schema, type Stream } from "effect"
import type { AgentRecord } from "../../heart/model/AgentRecord.ts"
import type { CheckRecord } from "../../heart/model/CheckRecord.ts"
import type { CheckRef } from "../model/CheckRef.ts"
import type { AgentId, CheckId, IncidentId, KeyHash } from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { Labels } from "@tocsin/contract/labels/Labels"
import type { CheckStatus, NotifierName, OutboxState, Severity } from "@tocsin/contract/formats/Status"
import type { ListName, ListRows, orderColumns, PageRequest } from "../../lists/ListDefinitions.ts"
import type { Command, Outcome } from "../unitOfWork/Decision.ts"
import type {
  IncidentChangeRecord,
  IncidentLogRecord,
  IncidentRecord,
} from "../../heart/model/IncidentRecord.ts"
import type { LastResult, MemberCheck } from "../model/LastResult.ts"
import type { MemberRecord } from "../../heart/model/MemberRecord.ts"
import type { ServiceHeartbeatRecord } from "../model/ServiceHeartbeatRecord.ts"
import type { OutboxRecord } from "../../heart/model/OutboxRecord.ts"
import type { OperatorRecord } from "../../heart/model/OperatorRecord.ts"
import type { PolicyVersionRecord } from "../../heart/model/PolicyVersionRecord.ts"
import type { ReplicaRecord } from "../../heart/model/ReplicaRecord.ts"
import type { RetentionPiece, RetentionResult } from "../../lists/retention/retentionPiece.ts"
import type { Topics } from "../topics/Topics.ts"
import type { AnyShape, CopiedRow } from "../model/TableShape.ts"
import type { SettledReads } from "./SettledReads.ts"
import type { NumberStorage } from "./NumberStorage.ts"

/** Why a storage could not do what it was asked. */
export const StorageFailure = Schema.Literals([
  "unavailable",
  "timed_out",
  "full",
  "read_only",
  "damaged",
  "newer",
  "in_use",
  "other",
])
export type StorageFailure = typeof StorageFailure.Type

/**
 * The storage failed. Nothing of the command was kept, or (`timed_out`, `unavailable`) it is
 * unknown whether it was. `message` says what to do about it and holds no secret; `cause` is for
 * the log.
 */
export class StorageError extends Schema.TaggedError<StorageError>()("StorageError", {
  reason: StorageFailure,
  message: Schema.String,
  /** Whether the command may have been kept: repeat it if that is safe. */
  isUnknown: Schema.optionalKey(Schema.Literal(true)),
  cause: Schema.optionalKey(Schema.Defect()),
}) {}

export interface TimelineLimits {
  readonly members: number
  readonly changes: number
  readonly log: number
  readonly outbox: number
}

export interface IncidentTimeline {
  readonly incident: IncidentRecord
  readonly members: ReadonlyArray<MemberRecord>
  /** The labels that the check of each member has now. */
  readonly labels: ReadonlyArray<Labels | undefined>
  readonly changes: ReadonlyArray<IncidentChangeRecord>
  readonly log: ReadonlyArray<IncidentLogRecord>
  readonly outbox: ReadonlyArray<OutboxRecord>
}

export interface DueRequest<N extends EvaluatedName> {
  readonly now: Instant
  readonly after: KeyedRows[N] | undefined
  readonly limit: number
}

/** All state of the service. Every adapter passes the shared suite, `@tocsin/testing`. */
export class Storage extends Context.Service<
  Storage,
  {
    /**
     * Runs a command: loads the rows that it asks for, lets it decide, and persists exactly what it
     * changed, all in one serializable transaction. As soon as that is known to be durable, the
     * storage calls `committed` of the outcome, once, and succeeds with its result, the reply. It
     * does so in the order of the commits, and also for a caller that was interrupted meanwhile:
     * not in the caller's fiber, unless nothing can interrupt that in between. Not idempotent: a
     * command is decided once, except that a decision which was certainly not kept may be made
     * again. `now` is Effect's Clock. An exception in a decision is a defect here: nothing is kept
     * then, and commands of the same group are not affected. Use cases call `Commits.transact`
     * instead.
     */
    readonly transact: <A>(command: Command<Outcome<A>>) => Effect.Effect<A, StorageError>
    /**
     * Reads one page of a list in the query's order (see PageRequest for backward pages): committed
     * rows only; rows whose agent is deleted are not among them. An index serves it at any depth.
     */
    readonly page: <L extends ListName>(
      request: PageRequest<L>,
    ) => Effect.Effect<ReadonlyArray<ListRows[L]>, StorageError>
    /** The columns of an order of a list: `orderColumns`, on every storage. */
    readonly orderOf: typeof orderColumns
    readonly agent: (agentId: AgentId) => Effect.Effect<AgentRecord | undefined, StorageError>
    /**
     * Counts for the summary, all of one moment; `aliveSince` parts online from offline. Passes over agents, unless
     * the caller knows how many are offline, and never over checks.
     */
    readonly counts: (
      aliveSince: Instant,
      agentsOffline?: number,
    ) => Effect.Effect<SummaryCounts, StorageError>
    /** Passes over no table: each number comes from an index, or from a running total. */
    readonly metricCounts: Effect.Effect<MetricCounts, StorageError>
    /**
     * Agents without a heartbeat incident that were accepted and last seen at `seenBefore` or earlier, and those
     * with a `twice_at` of `twiceBefore` or earlier, if that is given; at most `limit` of them, ascending by id.
     * Passes over all agents, and not of one moment. An agent may report at any moment, so a decision checks again.
     */
    readonly staleAgents: (
      seenBefore: Instant,
      limit: number,
      twiceBefore?: Instant,
    ) => Effect.Effect<ReadonlyArray<AgentId>, StorageError>
    /**
     * Agents that have a pending key, ascending by id from the one after `after`; the steps of
     * actions on all of them.
     */
    readonly agentsWithPendingKey: (
      after: AgentId | undefined,
      limit: number,
    ) => Effect.Effect<ReadonlyArray<AgentId>, StorageError>
    /**
     * Rows of a table that are to be evaluated by `now`, longest due first, from the one after `after`;
     * those of deleted agents may be among them. An index serves it. Results change none of them.
     */
    readonly dueRows: <N extends EvaluatedName>(
      name: N,
      request: DueRequest<N>,
    ) => Effect.Effect<ReadonlyArray<KeyedRows[N]>, StorageError>
    /** Reads the rows of these keys, in no order; a key may have none. */
    readonly rows: <N extends KeyedName>(
      name: N,
      keys: ReadonlyArray<Keys[N]>,
    ) => Effect.Effect<ReadonlyArray<KeyedRows[N]>, StorageError>
    /** Reads these checks, in no order; one that never reported has no row. */
    readonly checks: (
      checks: ReadonlyArray<CheckRef>,
    ) => Effect.Effect<ReadonlyArray<CheckRecord>, StorageError>
    /** Reads the last results of these members' checks, in no order; a check that never reported has none. */
    readonly lastResults: (
      members: ReadonlyArray<MemberCheck>,
    ) => Effect.Effect<ReadonlyArray<LastResult>, StorageError>
    /**
     * Runs a piece of retention in one transaction: `expireNow` or `expireEffect` over the
     * storage's tables. A storage may end a piece early, with `isMore`. Safe to run from several processes at once, and to repeat; rows that
     * another transaction works on may be left to a later run.
     */
    readonly expire: (piece: RetentionPiece) => Effect.Effect<RetentionResult, StorageError>
    /**
     * How long until the next outbox item or alert of these receivers can be claimed: by its due
     * time after `now`, or by the end of a lease by the storage's clock. `undefined` where
     * nothing waits. Items that are due already do not count.
     */
    readonly untilNextDue: (
      receivers: ReadonlyArray<NotifierName>,
      now: Instant,
    ) => Effect.Effect<Duration.Duration | undefined, StorageError>
    /**
     * Emits when another process may have left something to deliver. A hint can be late, wrong or missing; what it
     * announces is visible when it arrives. Never fails, and ends on storages that have no hints.
     */
    readonly hints: Stream.Stream<void>
    /**
     * Emits what other processes have changed, within a second; all topics where some may have been
     * missed. Topics may be wrong, and are missing if a process dies right after a commit. Never
     * fails. What it announces is visible when it arrives.
     */
    readonly remoteChanges: Stream.Stream<Topics>
    /** Reads one check of an agent that exists. */
    readonly check: (
      agentId: AgentId,
      checkId: CheckId,
    ) => Effect.Effect<CheckRecord | undefined, StorageError>
    /**
     * Reads one incident with its first members (present first, worst first), and its latest
     * changes, acts and outbox items.
     */
    readonly incident: (
      id: IncidentId,
      limits: TimelineLimits,
    ) => Effect.Effect<IncidentTimeline | undefined, StorageError>
    /** Reads the operator whose token, or former token, has this hash. */
    readonly operatorOfToken: (hash: KeyHash) => Effect.Effect<OperatorRecord | undefined, StorageError>
    /** Reads the rows of all replicas, in no order. */
    readonly replicas: Effect.Effect<ReadonlyArray<ReplicaRecord>, StorageError>
    /** Reads versions of the policy after one, and up to one if it is given, the newest first; 0 comes before the first. */
    readonly policyVersions: (
      after: number,
      limit: number,
      upTo?: number,
    ) => Effect.Effect<ReadonlyArray<PolicyVersionRecord>, StorageError>
    readonly serviceHeartbeat: Effect.Effect<ServiceHeartbeatRecord | undefined, StorageError>
    /** Keeps `value` under `name` unless one is kept already; returns the kept one. Atomic. */
    readonly establish: (name: EstablishedName, value: string) => Effect.Effect<string, StorageError>
    /** Succeeds if the storage answers and knows of nothing that prevents writes. Waits for no lock. */
    readonly probe: Effect.Effect<void, StorageError>
    /** Numbers over time; a storage without it keeps none. */
    readonly numbers?: NumberStorage<StorageError> | undefined
  } & SettledReads<StorageError>
>()("@tocsin/core/kernel/ports/Storage") {}

/** A snapshot of a storage, unaffected by concurrent writes. */
export interface CopySource {
  readonly count: (table: AnyShape) => Effect.Effect<number, StorageError>
  /** All rows of a table in the order of its key, in batches; or those whose numeric key is above `after`. */
  readonly rows: (table: AnyShape, after?: bigint) => Stream.Stream<ReadonlyArray<CopiedRow>, StorageError>
  /** The highest number ever given to a history row; 0 for none. Numbers are not reused. */
  readonly lastSeq: Effect.Effect<bigint, StorageError>
}

/** A storage that is being filled. Its content becomes visible as a whole. */
export interface CopyTarget {
  /** Gives a table's rows the form in which this target keeps them; absent if it keeps them as they come. */
  readonly asKept?: (table: AnyShape) => (row: CopiedRow) => CopiedRow
  readonly write: (table: AnyShape, rows: ReadonlyArray<CopiedRow>) => Effect.Effect<void, StorageError>
  /** Reads written rows back, in the order of the key. */
  readonly rows: (table: AnyShape) => Stream.Stream<ReadonlyArray<CopiedRow>, StorageError>
  /** Numbers further history rows above this one. */
  readonly setLastSeq: (seq: bigint) => Effect.Effect<void, StorageError>
}

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

/** Late checks with the same last status, `null` of those that never reported, and severity: of {@link CENSUS_LIMIT}. */
export interface LateChecks {
  readonly status: CheckStatus | null
  readonly severity: Severity
  readonly checks: number
}

/** Counts for monitoring, beyond those of the summary. Withdrawn checks are of present agents. */
export interface MetricCounts {
  readonly agents_pending: number
  /** Accepted agents with a heartbeat incident. */
  readonly agents_dead: number
  readonly keys_blocked: number
  readonly incidents: Readonly<Record<Severity, number>>
  /** In no order; without zeros. */
  readonly late: ReadonlyArray<LateChecks>
  readonly withdrawn: number
  readonly of_places: ReadonlyArray<{ readonly status: CheckStatus; readonly checks: number }>
  /** By notifier, then by state in the order of {@link BACKLOG_STATES}; without zeros. */
  readonly backlog: ReadonlyArray<Backlog>
}

export const isBacklogState = Schema.is(Schema.Literals(BACKLOG_STATES))

const rank = ({ state }: Backlog): number => BACKLOG_STATES.indexOf(state)

export const sortBacklog = (backlog: ReadonlyArray<Backlog>): ReadonlyArray<Backlog> =>
  backlog.toSorted((a, b) =>
    a.notifier === b.notifier ? rank(a) - rank(b) : a.notifier < b.notifier ? -1 : 1,
  )
