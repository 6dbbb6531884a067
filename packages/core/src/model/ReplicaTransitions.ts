import { stateTable } from "@tocsin/contract/TransitionTable"

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
