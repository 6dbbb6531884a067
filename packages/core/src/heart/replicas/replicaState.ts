import { Duration } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { ReplicaRecord } from "../model/ReplicaRecord.ts"

/** How often each replica writes its row. */
export const REPORT_EVERY = Duration.seconds(15)
/** Without a report for this long, a replica counts as gone: it missed four. */
const LIVE_FOR = Duration.seconds(60)
/** A replica that has reported its end may still finish requests: a server takes half of this at most. */
const ENDS_WITHIN = Duration.seconds(20)

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
