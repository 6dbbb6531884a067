import type { Labels } from "@tocsin/contract/labels/Labels"
import type { AgentId, BlacklistId, IncidentId, OutboxId } from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { AgentKeyRecord, AgentRecord } from "../../heart/model/AgentRecord.ts"
import type { IncidentRecord, IncidentRef } from "../../heart/model/IncidentRecord.ts"
import type { MemberRecord } from "../../heart/model/MemberRecord.ts"
import type { AlertRecord, OutboxRecord } from "../../heart/model/OutboxRecord.ts"
import type { ServiceHeartbeatRecord } from "../model/ServiceHeartbeatRecord.ts"
import type { PolicyVersionRecord } from "../../heart/model/PolicyVersionRecord.ts"
import type { CountedName, KeyedRows } from "../../lists/StoredTables.ts"
import type { UnitOfWork } from "./UnitOfWork.ts"

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

interface OfReceivers {
  readonly receivers: ReadonlyArray<NotifierName>
  readonly limit: number
}

/**
 * The questions and results of searches, in the storage's order. A search finds rows instead of naming them, and locks
 * none of them unless it says so. Nothing caches it. Rows of one time are found in the order of their ids, so that
 * a limit cuts alike on every storage.
 */
export interface Searches {
  /**
   * Outbox items of these receivers that can be claimed, with their incidents. These are items due by `now`, unless an
   * earlier item of the same incident and receiver (by incident_seq, then id) is pending, sending or to be retried; and
   * items whose lease has expired by the storage's clock, which is read in the same step. At most `limit` of each,
   * longest due first (leases: the earliest end first). Locks and loads the items; skips locked ones, and those
   * whose incident is gone.
   */
  readonly claimableOutbox: (asked: OfReceivers) => {
    readonly due: ReadonlyArray<WithIncident<OutboxRecord>>
    readonly expired: ReadonlyArray<OutboxRecord>
    readonly storageTime: Instant
  }
  /** The incidents of held outbox items of these receivers to be examined by `now`, the longest due first. */
  readonly heldOutbox: (asked: OfReceivers) => ReadonlyArray<IncidentId>
  /** Open incidents whose `next_evaluation_at` has come by `now`, the longest due first. */
  readonly dueIncidents: (asked: { readonly limit: number }) => ReadonlyArray<IncidentId>
  /** These incidents, as far as they exist. */
  readonly incidentsToRead: (ids: ReadonlyArray<IncidentId>) => ReadonlyMap<IncidentId, IncidentRecord>
  /** This outbox item: the lock of its incident comes first. */
  readonly itemToRead: (id: OutboxId) => OutboxRecord | undefined
  /** The outbox items of these incidents that were not discarded untried, in no order. */
  readonly outboxToRead: (ids: ReadonlyArray<IncidentId>) => ReadonlyArray<OutboxRecord>
  /**
   * By incident, its first loud present members by `compareMembers`, at most `limit` of each; an incident
   * without one is missing.
   */
  readonly loudMembers: (
    asked: ReadonlyArray<{ readonly incident_id: IncidentId; readonly limit: number }>,
  ) => ReadonlyMap<IncidentId, ReadonlyArray<LoudMember>>
  /** Incidents and agents among which parents are, each once. */
  readonly parents: (asked: ParentSearch) => {
    readonly incidents: ReadonlyArray<IncidentRecord>
    readonly agents: ReadonlyArray<AgentRecord>
  }
  /**
   * Items of receivers that are not `listed`: at most `limit` that are waiting, and at most `limit`
   * whose lease has ended. Items whose receiver is a notifier by its own name must have been so since
   * `untouchedSince`. In no order. Locks and loads them.
   */
  readonly unclaimedOutbox: (asked: {
    readonly listed: ReadonlyArray<NotifierName>
    readonly untouchedSince: Instant
    readonly limit: number
  }) => ReadonlyArray<OutboxRecord>
  /** Alerts of a receiver, due by `now`, that no replica holds, as for `claimableOutbox`, by incident and severity. */
  readonly claimableAlerts: (asked: { readonly receiver: NotifierName; readonly limit: number }) => {
    readonly due: ReadonlyArray<WithIncident<AlertRecord>>
    readonly storageTime: Instant
  }
  /** The blocked keys of these rows of the blacklist. Locks and loads them. */
  readonly blockedKeys: (ids: ReadonlyArray<BlacklistId>) => ReadonlyArray<AgentKeyRecord>
  /** Pending agents last seen at `seenBefore` or earlier, ascending by id. Locks and loads them; skips locked ones. */
  readonly idlePendingAgents: (asked: {
    readonly seenBefore: Instant
    readonly limit: number
  }) => ReadonlyArray<AgentId>
  /** By incident, when its key was opened after `since` until `until`, the latest first, at most `limit` of each. */
  readonly openings: (
    asked: ReadonlyArray<{
      readonly incident: IncidentRef & { readonly id: IncidentId }
      readonly since: Instant
      readonly until: Instant
      readonly limit: number
    }>,
  ) => ReadonlyMap<IncidentId, ReadonlyArray<Instant>>
  /** The silences that have begun by `now`, or by `begunBy`, and end after `endingAfter`, and the service heartbeat. */
  readonly silencesInForce: (asked: {
    readonly endingAfter: Instant
    readonly begunBy?: Instant | undefined
  }) => {
    readonly silences: ReadonlyArray<KeyedRows["silence"]>
    readonly serviceHeartbeat: ServiceHeartbeatRecord | undefined
  }
  readonly silencesEndingAfter: (moment: Instant) => ReadonlyArray<KeyedRows["silence"]>
  /**
   * The silences that end after `now`. Transactions that count them wait for one another from here on, so that
   * their limit is exact.
   */
  readonly unendedSilences: (asked: undefined) => ReadonlyArray<KeyedRows["silence"]>
  readonly overridesEndingAfter: (moment: Instant) => ReadonlyArray<KeyedRows["rota_override"]>
  /** How many rows of a table have not ended at `now`, as exactly as {@link Searches.unendedSilences} says. */
  readonly unended: (table: CountedName) => number
  /** The newest version of the policy. Transactions that look for it wait for one another from here on. */
  readonly newestPolicy: (asked: undefined) => PolicyVersionRecord | undefined
}

export type SearchName = keyof Searches

/** Searches whose callers add what the unit of work has made of the rows. */
export type SharedSearch =
  | "loudMembers"
  | "openings"
  | "overridesEndingAfter"
  | "parents"
  | "silencesEndingAfter"
export type Asked<N extends SearchName> = Parameters<Searches[N]>[0]
export type Found<N extends SearchName> = ReturnType<Searches[N]>

/** A search that a decision yields; the storage continues the decision with what it finds. */
export class Search<N extends SearchName = SearchName> {
  readonly name: N
  readonly asked: Asked<N>

  constructor(name: N, asked: Asked<N>) {
    this.name = name
    this.asked = asked
  }
}

export const isSearch = <N extends SearchName>(step: object, name: N): step is Search<N> =>
  step instanceof Search && step.name === name

export function* find<N extends SearchName>(
  name: N,
  asked: Asked<N>,
): Generator<Search<N>, Found<N>, unknown> {
  // A storage answers each search with what the table of searches says.
  return (yield new Search(name, asked)) as Found<N>
}

/** The first result of a search in a unit of work. Its caller adds the changes of the unit since. */
export function* findOnce<N extends SearchName>(
  { found }: Pick<UnitOfWork, "found">,
  name: N,
  asked: Asked<N>,
): Generator<Search<N>, Found<N>, unknown> {
  if (!found.has(name)) found.set(name, yield* find(name, asked))
  // It is kept under its name.
  return found.get(name) as Found<N>
}

/** Rows that {@link findOnce} found, as the unit of work leaves them. */
export const asChanged = <Row extends { readonly id: string }>(
  stored: ReadonlyArray<Row>,
  changes: ReadonlyArray<{ readonly after?: Row | undefined }>,
): ReadonlyArray<Row> => {
  if (stored.length === 0 && changes.length === 0) return stored
  const changed = changes.flatMap(({ after }) => after ?? [])
  return Array.from(new Map([...stored, ...changed].map((row) => [row.id, row])).values())
}
