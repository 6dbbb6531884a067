import type { Transition } from "@tocsin/contract/TransitionTable"

/** Transitions of a replica's row (docs/rules.md#replicas). `silent` is computed from `seen_at`. */
export const ReplicaTransitions = [
  {
    from: "absent",
    trigger: "reported",
    condition: "the process starts, or returns after its row was removed",
    to: "live",
    effects: "its receivers are listed",
  },
  {
    from: "live",
    trigger: "reported",
    condition: "every 15 s, and when another policy is put in force",
    to: "live",
    effects: "its receivers are listed; one that the new policy lacks was listed until now",
  },
  {
    from: "live",
    trigger: "unseen",
    condition: "no report for 60 s",
    to: "silent",
    effects: "its policy is no longer compared; its receivers were listed until its last report",
  },
  {
    from: "silent",
    trigger: "reported",
    condition: "the process was paused, or could not reach the storage",
    to: "live",
    effects: "its receivers are listed",
  },
  ...(["live", "silent"] as const).map(
    (from) =>
      ({
        from,
        trigger: "stopped",
        condition: "the process shuts down",
        to: "ended",
        effects: "its policy is no longer compared; its receivers were listed until now",
      }) as const,
  ),
  ...(["silent", "ended"] as const).map(
    (from) =>
      ({
        from,
        trigger: "outlived",
        condition: "each of its receivers was listed later by another replica, or by none for 24 h",
        to: "absent",
        effects: "none",
      }) as const,
  ),
] as const satisfies ReadonlyArray<Transition>
