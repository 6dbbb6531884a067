import { Duration } from "effect"
import * as Instant from "@tocsin/contract/Instant"
import type { UnavailableReceiver } from "@tocsin/contract/Policies"
import type { NotifierName } from "@tocsin/contract/Status"
import type { ReceiverListing, ReplicaRecord } from "../model/ReplicaRecord.ts"
import { recordAudit } from "../audit/recordAudit.ts"
import type { Signature } from "../audit/Signature.ts"
import { commandOf, type Decision } from "../unitOfWork/Decision.ts"
import { load } from "../unitOfWork/load.ts"

export const REPORT_EVERY = Duration.seconds(15)
/** Without a report for this long, a replica counts as gone: it missed four. */
const LIVE_FOR = Duration.seconds(60)
/** A replica that has reported its end may still finish requests: a server takes half of this at most. */
const ENDS_WITHIN = Duration.seconds(20)
/** Items of a receiver that no live replica has listed for this long are discarded. */
export const LISTED_FOR = Duration.hours(24)

/** Whether a replica is running, as far as its row shows. */
export type ReplicaState = "live" | "silent" | "ended"

/**
 * Whether a replica was seen less than this ago. A moment far ahead comes from a clock set back since, and
 * counts as old: a running replica would have reported again.
 */
export const isNear = (at: Instant.Instant, now: Instant.Instant, within: Duration.Duration): boolean =>
  at > Instant.minus(now, within) && at < Instant.plus(now, within)

export const replicaState = ({ ended_at, seen_at }: ReplicaRecord, now: Instant.Instant): ReplicaState => {
  if (ended_at !== undefined) return "ended"
  return isNear(seen_at, now, LIVE_FOR) ? "live" : "silent"
}

export const liveReplicas = (
  replicas: ReadonlyArray<ReplicaRecord>,
  now: Instant.Instant,
): ReadonlyArray<ReplicaRecord> => replicas.filter((replica) => replicaState(replica, now) === "live")

/** Whether a replica may still decide by its policy: it is live, or has just ended. */
export const mayDecide = (replica: ReplicaRecord, now: Instant.Instant): boolean =>
  replica.ended_at === undefined
    ? replicaState(replica, now) === "live"
    : isNear(replica.ended_at, now, ENDS_WITHIN)

const listedUntil = (
  { ended_at, seen_at }: ReplicaRecord,
  { left_millis }: ReceiverListing,
  now: Instant.Instant,
): Instant.Instant =>
  Instant.min(left_millis === undefined ? (ended_at ?? seen_at) : Instant.fromMillis(left_millis), now)

/** The listings of a replica that now sends to `current`, after those of its former row. */
const listingsOf = (
  former: ReadonlyArray<ReceiverListing>,
  current: ReadonlyArray<NotifierName>,
  now: Instant.Instant,
  unavailable: ReadonlyMap<NotifierName, string> = new Map(),
): ReadonlyArray<ReceiverListing> => {
  const nowMillis = Number(now / 1_000n)
  const oldest = nowMillis - Duration.toMillis(LISTED_FOR)
  const left = former
    .filter(({ name }) => !current.includes(name))
    .map(({ name, left_millis = nowMillis }) => ({ name, left_millis }))
    .filter(({ left_millis }) => left_millis >= oldest)
  const present = current.map((name) => {
    const reason = unavailable.get(name)
    return reason === undefined ? { name } : { name, unavailable: reason }
  })
  return [...present, ...left]
}

/** The receivers that a replica sends to, by name. */
export const currentReceivers = (listings: ReadonlyArray<ReceiverListing>): ReadonlyArray<NotifierName> =>
  listings
    .filter(({ left_millis }) => left_millis === undefined)
    .map(({ name }) => name)
    .toSorted()

/** The receivers that a replica can use. */
const usableReceivers = (listings: ReadonlyArray<ReceiverListing>): ReadonlyArray<NotifierName> =>
  currentReceivers(listings.filter(({ unavailable }) => unavailable === undefined))

/** The receivers that a replica cannot use, by name, each with the reason. */
export const unavailableReceivers = (
  listings: ReadonlyArray<ReceiverListing>,
): ReadonlyArray<UnavailableReceiver> =>
  listings
    .flatMap(({ name: receiver, unavailable: reason }) =>
      reason === undefined ? [] : [{ receiver, reason }],
    )
    .toSorted((a, b) => (a.receiver < b.receiver ? -1 : 1))

/** A receiver that some of the running replicas cannot use for one reason. */
export interface UnusableReceiver extends UnavailableReceiver {
  readonly replicas: number
  readonly byNone: boolean
}

/** The receivers that running replicas cannot use, by name and reason. */
export const unusableReceivers = (live: ReadonlyArray<ReplicaRecord>): ReadonlyArray<UnusableReceiver> => {
  const usable = new Set(live.flatMap(({ receivers }) => usableReceivers(receivers)))
  const found = new Map<string, UnusableReceiver>()
  for (const { receivers } of live)
    for (const { reason, receiver } of unavailableReceivers(receivers)) {
      const replicas = (found.get(`${receiver} ${reason}`)?.replicas ?? 0) + 1
      found.set(`${receiver} ${reason}`, { receiver, reason, replicas, byNone: !usable.has(receiver) })
    }
  return Array.from(found.values()).toSorted((a, b) => (a.receiver < b.receiver ? -1 : 1))
}

/** The receivers that this process or a live replica can send to. */
export const servedReceivers = (
  own: ReadonlyMap<NotifierName, unknown>,
  replicas: ReadonlyArray<ReplicaRecord>,
  now: Instant.Instant,
): ReadonlySet<NotifierName> => {
  const served = liveReplicas(replicas, now).flatMap(({ receivers }) => usableReceivers(receivers))
  return new Set([...own.keys(), ...served])
}

/** Of the receivers that this process cannot use, those that no live replica can use either, with the reasons. */
export const unusableByAll = (
  unavailable: ReadonlyMap<NotifierName, string>,
  replicas: ReadonlyArray<ReplicaRecord>,
  now: Instant.Instant,
): ReadonlyArray<readonly [NotifierName, string]> => {
  const served = servedReceivers(new Map(), replicas, now)
  return Array.from(unavailable).filter(([name]) => !served.has(name))
}

/** The receivers that some replica has listed within the last day. */
export const listedReceivers = (
  replicas: ReadonlyArray<ReplicaRecord>,
  now: Instant.Instant,
): ReadonlySet<NotifierName> => {
  const since = Instant.minus(now, LISTED_FOR)
  return new Set(
    replicas.flatMap((replica) =>
      replica.receivers
        .filter((listing) => listedUntil(replica, listing, now) >= since)
        .map(({ name }) => name),
    ),
  )
}

/**
 * Rows that nothing depends on: of replicas that are gone, each of whose receivers another row
 * lists longer, or which was listed too long ago. Keeps the table small, whatever restarts.
 */
const outlivedReplicas = (
  replicas: ReadonlyArray<ReplicaRecord>,
  now: Instant.Instant,
): ReadonlyArray<ReplicaRecord> => {
  const since = Instant.minus(now, LISTED_FOR)
  const longest = new Map<NotifierName, { readonly until: Instant.Instant; readonly id: string }>()
  for (const replica of replicas)
    for (const listing of replica.receivers) {
      const until = listedUntil(replica, listing, now)
      const known = longest.get(listing.name)
      if (known === undefined || until > known.until || (until === known.until && replica.id > known.id))
        longest.set(listing.name, { until, id: replica.id })
    }
  return replicas.filter(
    (replica) =>
      replicaState(replica, now) !== "live" &&
      replica.receivers.every(
        (listing) =>
          longest.get(listing.name)?.id !== replica.id || listedUntil(replica, listing, now) < since,
      ),
  )
}

/** The hashes of the policies that these replicas follow, each once; more than one means they differ. */
export const policyHashes = (replicas: ReadonlyArray<ReplicaRecord>): ReadonlyArray<string> =>
  Array.from(new Set(replicas.map(({ policy_hash }) => policy_hash))).toSorted()

/** A difference of policies that this process has noticed. */
export interface PolicyDifference {
  readonly about: string
  readonly since: Instant.Instant
  readonly warned_at: Instant.Instant | undefined
}

// Servers follow a new policy one after another: a difference is logged once each has reported again.
const WARN_AFTER = Duration.times(REPORT_EVERY, 2)
// Often enough to be noticed in a log, too rare to fill it.
const WARN_EVERY = Duration.minutes(10)

/** Compares the policies of live replicas: the difference from now on, and whether to log it or its end. */
export const compareReplicas = (
  before: PolicyDifference | undefined,
  all: ReadonlyArray<ReplicaRecord>,
  now: Instant.Instant,
): readonly [PolicyDifference | undefined, "differ" | "equal" | undefined] => {
  const hashes = policyHashes(liveReplicas(all, now))
  const warned = before?.warned_at
  if (hashes.length < 2) return [undefined, warned === undefined ? undefined : "equal"]
  const about = hashes.join()
  // A clock that was set back delays nothing.
  const since = before?.about === about ? Instant.min(before.since, now) : now
  const isKnown =
    warned !== undefined && warned >= since && now < Instant.plus(Instant.min(warned, now), WARN_EVERY)
  return isKnown || now < Instant.plus(since, WARN_AFTER)
    ? [{ about, since, warned_at: warned && Instant.min(warned, now) }, undefined]
    : [{ about, since, warned_at: now }, "differ"]
}

export interface ReplicaReport extends Pick<
  ReplicaRecord,
  "id" | "version" | "policy_hash" | "probes" | "started_at"
> {
  readonly receivers: ReadonlyArray<NotifierName>
  /** Those that it cannot use, each with the reason. */
  readonly unavailable?: ReadonlyMap<NotifierName, string> | undefined
  /** Whether its policy states nothing, as without a policy file. */
  readonly isEmptyPolicy: boolean
}

/**
 * Whether a report shows that another policy came into force: the replica had another one, or it
 * starts with one that no row names. The first server of an installation without a policy does not.
 */
const isReplaced = (
  rows: ReadonlyArray<ReplicaRecord>,
  { id, isEmptyPolicy, policy_hash }: ReplicaReport,
): boolean => {
  const known = rows.find((replica) => replica.id === id)
  if (known !== undefined) return known.policy_hash !== policy_hash
  if (rows.length === 0) return !isEmptyPolicy
  return rows.every((replica) => replica.policy_hash !== policy_hash)
}

/**
 * Writes this replica's row, and removes rows that nothing depends on. Records in the audit that
 * another policy is in force. Returns all rows, also those that it removes.
 */
export const reportReplica = commandOf(function* (
  unit,
  now,
  report: ReplicaReport,
  signature: Signature,
): Decision<ReadonlyArray<ReplicaRecord>> {
  yield* load(unit, { groups: { replica: ["all"] } })
  const rows = unit.of("replica").group("all")
  const known = rows.find(({ id }) => id === report.id)
  if (isReplaced(rows, report)) {
    const former = known?.policy_hash
    recordAudit(unit, now, signature, "policy.replaced", [report.policy_hash], { former })
  }
  const { isEmptyPolicy: _, unavailable, ...row } = report
  unit.of("replica").put({
    ...row,
    receivers: listingsOf(known?.receivers ?? [], report.receivers, now, unavailable),
    seen_at: now,
    ended_at: undefined,
  })
  const replicas = unit.of("replica").group("all")
  for (const { id } of outlivedReplicas(replicas, now)) unit.of("replica").delete(id)
  return replicas
})

export const endReplica = commandOf(function* (unit, now, replicaId: string): Decision<void> {
  yield* load(unit, { groups: { replica: ["all"] } })
  const known = unit
    .of("replica")
    .group("all")
    .find(({ id }) => id === replicaId)
  if (known !== undefined) unit.of("replica").put({ ...known, ended_at: now })
})
