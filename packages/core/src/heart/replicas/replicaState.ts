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
