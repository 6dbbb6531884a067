import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { UnavailableReceiver } from "@tocsin/contract/policy/PolicyInForce"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import type { ReceiverListing, ReplicaRecord } from "../model/ReplicaRecord.ts"
import { liveReplicas } from "./replicaState.ts"

/** Items of a receiver that no live replica has listed for this long are discarded. */
export const LISTED_FOR = Duration.hours(24)

export const listedUntil = (
  { ended_at, seen_at }: ReplicaRecord,
  { left_millis }: ReceiverListing,
  now: Instant.Instant,
): Instant.Instant =>
  Instant.min(left_millis === undefined ? (ended_at ?? seen_at) : Instant.fromMillis(left_millis), now)

export const currentReceivers = (listings: ReadonlyArray<ReceiverListing>): ReadonlyArray<NotifierName> =>
  listings
    .filter(({ left_millis }) => left_millis === undefined)
    .map(({ name }) => name)
    .toSorted()

export const usableReceivers = (listings: ReadonlyArray<ReceiverListing>): ReadonlyArray<NotifierName> =>
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

/** The receivers that modules or programs give to live replicas (docs/rules.md#extensions). */
export const givenReceivers = (
  replicas: ReadonlyArray<ReplicaRecord>,
  now: Instant.Instant,
): ReadonlyArray<NotifierName> =>
  liveReplicas(replicas, now).flatMap(({ receivers }) =>
    currentReceivers(receivers.filter(({ given }) => given === true)),
  )

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

/** A receiver that no live replica can use for this long is out of reach. */
const UNUSABLE_FOR = Duration.minutes(2)

/** Those of some receivers that no live replica can use, each with the time from which it is out of reach. */
export const outOfReach = (
  receivers: Iterable<NotifierName>,
  replicas: ReadonlyArray<ReplicaRecord>,
  now: Instant.Instant,
): ReadonlyMap<NotifierName, Instant.Instant> => {
  const served = servedReceivers(new Map(), replicas, now)
  const usableUntil = new Map<NotifierName, Instant.Instant>()
  for (const replica of replicas)
    for (const listing of replica.receivers) {
      const { name, unavailable, unavailable_since_millis: since } = listing
      const unusable = since === undefined ? replica.started_at : Instant.fromMillis(since)
      const until = unavailable === undefined ? listedUntil(replica, listing, now) : unusable
      usableUntil.set(name, Instant.max(usableUntil.get(name) ?? until, until))
    }
  return new Map(
    Array.from(receivers).flatMap((name) => {
      const until = usableUntil.get(name)
      return served.has(name) || until === undefined ? [] : [[name, Instant.plus(until, UNUSABLE_FOR)]]
    }),
  )
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
