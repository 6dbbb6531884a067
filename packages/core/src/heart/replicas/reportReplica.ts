import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { recordAudit, type Signature } from "../audit/recordAudit.ts"
import type { ReceiverListing, ReplicaRecord } from "../model/ReplicaRecord.ts"
import { commandOf, type Decision, load } from "../../kernel/unitOfWork/Decision.ts"
import { LISTED_FOR, listedUntil } from "./listedReceivers.ts"
import { replicaState } from "./replicaState.ts"

export interface ReplicaReport extends Pick<
  ReplicaRecord,
  "id" | "version" | "policy_hash" | "probes" | "started_at"
> {
  readonly receivers: ReadonlyArray<NotifierName>
  /** Those that its modules give, or the program around. */
  readonly given?: ReadonlyArray<NotifierName> | undefined
  /** A digest of how it reaches each of them. */
  readonly entries?: ReadonlyMap<NotifierName, string> | undefined
  /** As in its row. */
  readonly agent_sha256?: string | undefined
  readonly known_names?: ReadonlyArray<string> | undefined
  /** Those that it cannot use, each with the reason. */
  readonly unavailable?: ReadonlyMap<NotifierName, string> | undefined
  /** Whether its policy states nothing, as without a policy file. */
  readonly isEmptyPolicy: boolean
}

/** How a replica reaches, or last reached, a receiver. */
const entryIn = ({ receivers }: ReplicaRecord, receiver: NotifierName): string | undefined =>
  receivers.find(({ name }) => name === receiver)?.entry

/** How the replica that was seen last reached a receiver. */
const lastEntry = (rows: ReadonlyArray<ReplicaRecord>, receiver: NotifierName): string | undefined => {
  const known = rows.filter((row) => entryIn(row, receiver) !== undefined)
  const [last] = known.toSorted((a, b) => (a.seen_at > b.seen_at ? -1 : 1))
  return last && entryIn(last, receiver)
}

/**
 * The listings of a replica by its report, after those of its former row. How a receiver was reached is kept while the
 * replica cannot use it, also from rows of others, which may be removed meanwhile.
 */
const listingsOf = (
  rows: ReadonlyArray<ReplicaRecord>,
  { entries = new Map(), given = [], id, receivers: current, unavailable = new Map() }: ReplicaReport,
  now: Instant.Instant,
): ReadonlyArray<ReceiverListing> => {
  const former = rows.find((row) => row.id === id)?.receivers ?? []
  const nowMillis = Number(now / 1_000n)
  const oldest = nowMillis - Duration.toMillis(LISTED_FOR)
  const left = former
    .filter(({ name }) => !current.includes(name))
    .map(({ name, left_millis = nowMillis }) => ({ name, left_millis }))
    .filter(({ left_millis }) => left_millis >= oldest)
  const formerOf = new Map(former.map((listing) => [listing.name, listing]))
  const present = current.map((name) => {
    const reason = unavailable.get(name)
    const before = formerOf.get(name)
    const entry = reason === undefined ? entries.get(name) : (before?.entry ?? lastEntry(rows, name))
    const listing = {
      name,
      ...(given.includes(name) && { given: true as const }),
      ...(entry !== undefined && { entry }),
    }
    if (reason === undefined) return listing
    return {
      ...listing,
      unavailable: reason,
      unavailable_since_millis: before?.unavailable_since_millis ?? nowMillis,
    }
  })
  return [...present, ...left]
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

/**
 * Whether a replica follows this policy, and by the rules of now: one of an earlier version states no entries. What
 * such a one left undone on purpose is not owed after an upgrade.
 */
export const isFollowing = (
  { policy_hash, receivers }: Pick<ReplicaRecord, "policy_hash" | "receivers">,
  hash: string,
): boolean =>
  policy_hash === hash && (receivers.length === 0 || receivers.some(({ entry }) => entry !== undefined))

/**
 * Whether a report shows that another policy came into force: the replica had another one, or it
 * starts with one that no row names. The first server of an installation without a policy does not.
 */
const isReplaced = (
  rows: ReadonlyArray<ReplicaRecord>,
  { entries, id, isEmptyPolicy, policy_hash }: ReplicaReport,
): boolean => {
  const known = rows.find((replica) => replica.id === id)
  if (known !== undefined) return known.policy_hash !== policy_hash
  if (rows.length === 0) return !isEmptyPolicy
  return !rows.some((replica) =>
    entries === undefined || isEmptyPolicy
      ? replica.policy_hash === policy_hash
      : isFollowing(replica, policy_hash),
  )
}

/**
 * The receivers of a report that are reached in another way than its replica reached them before; or, as it starts, than
 * another one does, which may have claimed the first attempt. One that ended before the present way was first reported
 * can have claimed none since.
 */
const changedReceivers = (
  rows: ReadonlyArray<ReplicaRecord>,
  { entries = new Map(), id, unavailable = new Map() }: ReplicaReport,
  now: Instant.Instant,
): ReadonlyArray<NotifierName> => {
  const own = rows.filter((row) => row.id === id)
  return Array.from(entries).flatMap(([receiver, entry]) => {
    if (unavailable.has(receiver)) return []
    const reaching = (among: ReadonlyArray<ReplicaRecord>) =>
      among.filter((row) => entryIn(row, receiver) !== undefined)
    const same = rows.filter((row) => entryIn(row, receiver) === entry)
    const counts = (row: ReplicaRecord) =>
      replicaState(row, now) === "live" ||
      !same.some(({ started_at }) => started_at > (row.ended_at ?? row.seen_at))
    const known = reaching(own).length > 0 ? reaching(own) : reaching(rows).filter(counts)
    return known.every((row) => same.includes(row)) ? [] : [receiver]
  })
}

/**
 * Writes this replica's row, and removes rows that nothing depends on. Records in the audit that
 * another policy is in force. Returns all rows, also those that it removes, and the receivers that may work now
 * (docs/rules.md#repaired-receivers).
 */
export const reportReplica = commandOf(function* (unit, report: ReplicaReport, signature: Signature) {
  yield* load(unit, { groups: { replica: ["all"] } })
  const rows = unit.of("replica").group("all")
  const known = rows.find(({ id }) => id === report.id)
  if (isReplaced(rows, report)) {
    const former = known?.policy_hash
    recordAudit(unit, signature, "policy.replaced", [report.policy_hash], { former })
  }
  const { entries: _, given: __, isEmptyPolicy: ___, unavailable: ____, ...row } = report
  unit.of("replica").put({
    ...row,
    agent_sha256: report.agent_sha256,
    known_names: report.known_names,
    receivers: listingsOf(rows, report, unit.now),
    seen_at: unit.now,
    ended_at: undefined,
  })
  const replicas = unit.of("replica").group("all")
  for (const { id } of outlivedReplicas(replicas, unit.now)) unit.of("replica").delete(id)
  return { replicas, changed: changedReceivers(rows, report, unit.now) }
})

export const endReplica = commandOf(function* (unit, replicaId: string): Decision<void> {
  yield* load(unit, { groups: { replica: ["all"] } })
  const known = unit
    .of("replica")
    .group("all")
    .find(({ id }) => id === replicaId)
  if (known !== undefined) unit.of("replica").put({ ...known, ended_at: unit.now })
})
