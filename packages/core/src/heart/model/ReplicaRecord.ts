import type { NotifierName } from "@tocsin/contract/formats/Status"
import {
  array,
  boolean,
  instant,
  keyedTable,
  orUndefined,
  type RecordOf,
  text,
} from "../../kernel/model/TableShape.ts"
import { stateTable } from "@tocsin/contract/formats/TransitionTable"

/** A receiver that a replica sends to, or has sent to within the last day. */
export interface ReceiverListing {
  readonly name: NotifierName
  /** When a reload removed it, in milliseconds since 1970; absent while the replica sends to it. */
  readonly left_millis?: number
  /** Whether a module of the replica gives it, or the program around. */
  readonly given?: true
  /** Why the replica cannot send to it; absent if it can. */
  readonly unavailable?: string
  /** A digest of how the replica reaches it; an earlier version did not state it. */
  readonly entry?: string
  /** Since when, in milliseconds since 1970; an earlier version did not state it. */
  readonly unavailable_since_millis?: number
}

/** One process of the service, as it last reported itself (docs/rules.md#replicas). */
export const replica = keyedTable({
  name: "replica",
  key: ["id"],
  group: [],
  locks: "groups",
  columns: {
    /** Drawn when the process starts. */
    id: text(),
    version: text(),
    policy_hash: text(),
    receivers: array<ReceiverListing>(),
    probes: boolean,
    /** Of the install.sh that it hands out, in hex; absent if it hands out nothing. */
    agent_sha256: orUndefined(text()),
    /** The kinds and options that people may use here; a server of an earlier version states none. */
    known_names: orUndefined(array<string>()),
    started_at: instant,
    seen_at: instant,
    /** When it shut down; absent while it runs, and after a crash. */
    ended_at: orUndefined(instant),
  },
})
export type ReplicaRecord = RecordOf<typeof replica>

/** Transitions of a replica's row (docs/rules.md#replicas). `silent` is computed from `seen_at`. */
export const ReplicaTransitions = stateTable({
  absent: {
    "reported -> live": "the process starts, or returns after its row was removed | its receivers are listed",
  },
  live: {
    "reported -> live":
      "every 15 s, and when another policy is put in force | its receivers are listed; one that the new policy lacks was listed until now",
    "unseen -> silent":
      "no report for 60 s | its policy is no longer compared; its receivers were listed until its last report",
    "stopped -> ended":
      "the process shuts down | its policy is no longer compared; its receivers were listed until now",
  },
  silent: {
    "reported -> live": "the process was paused, or could not reach the storage | its receivers are listed",
    "stopped -> ended":
      "the process shuts down | its policy is no longer compared; its receivers were listed until now",
    "outlived -> absent": "each of its receivers was listed later by another replica, or by none for 24 h",
  },
  ended: {
    "outlived -> absent": "each of its receivers was listed later by another replica, or by none for 24 h",
  },
})
