import type { Instant } from "@tocsin/contract/Instant"
import type { NotifierName } from "@tocsin/contract/Status"
import { array, boolean, instant, orUndefined, text } from "./columns.ts"
import type { KeyedShape } from "./TableShape.ts"

/** A receiver that a replica sends to, or has sent to within the last day. */
export interface ReceiverListing {
  readonly name: NotifierName
  /** When a reload removed it, in milliseconds since 1970; absent while the replica sends to it. */
  readonly left_millis?: number
  /** Why the replica cannot send to it; absent if it can. */
  readonly unavailable?: string
}

/** One process of the service, as it last reported itself (docs/rules.md#replicas). */
export interface ReplicaRecord {
  /** Drawn when the process starts. */
  readonly id: string
  readonly version: string
  /** Names the policy in force there. */
  readonly policy_hash: string
  readonly receivers: ReadonlyArray<ReceiverListing>
  /** Whether it probes watches. */
  readonly probes: boolean
  readonly started_at: Instant
  readonly seen_at: Instant
  /** When it shut down; absent while it runs, and after a crash. */
  readonly ended_at: Instant | undefined
}

/** Its table, in which each process has a row. */
export const replica: KeyedShape<ReplicaRecord, readonly ["id"], readonly []> = {
  name: "replica",
  key: ["id"],
  group: [],
  locks: "groups",
  columns: {
    id: text,
    version: text,
    policy_hash: text,
    receivers: array,
    probes: boolean,
    started_at: instant,
    seen_at: instant,
    ended_at: orUndefined(instant),
  },
}
