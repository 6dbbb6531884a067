import type { Transition } from "../TransitionTable.ts"

/** Moves of an agent's admission (docs/state-tables.md, docs/rules.md#agent-keys). */
export const AgentTransitions = [
  {
    from: "absent",
    trigger: "registered",
    condition:
      "a heartbeat with an unknown key under an unknown agent id, fewer pending agents than the limit",
    to: "pending",
    effects: "its key is pending",
  },
  {
    from: "absent",
    trigger: "preseeded",
    condition: "the same with a key whose fingerprint is listed in SERVICE_ACCEPT_FINGERPRINTS",
    to: "accepted",
    effects: "its key is accepted",
  },
  {
    from: "pending",
    trigger: "key_accepted",
    condition: "its pending key, or a preseeded one, is accepted",
    to: "accepted",
    effects: "its events count from now on",
  },
  {
    from: "accepted",
    trigger: "key_accepted",
    condition: "a replacement key is accepted",
    to: "accepted",
    effects: "the old key is superseded",
  },
  {
    from: "pending",
    trigger: "removed",
    condition: "it is deleted, all pending agents are removed, or its only usable key is blocked",
    to: "absent",
    effects: "its keys that are not blocked go with it",
  },
  {
    from: "accepted",
    trigger: "removed",
    condition: "it is deleted, or its only usable key is blocked",
    to: "absent",
    effects:
      "its keys that are not blocked, its checks and its history go; its checks leave their incidents, which resolve when none is left",
  },
] as const satisfies ReadonlyArray<Transition>
