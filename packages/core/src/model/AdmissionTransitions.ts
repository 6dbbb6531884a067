import type { Transition } from "@tocsin/contract/TransitionTable"

/** Transitions of an agent's admission (docs/rules.md#agent-keys). */
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
    condition:
      "a heartbeat with an unknown key under an unknown agent id; the key's fingerprint is listed in SERVICE_ACCEPT_FINGERPRINTS; the limit on pending agents does not apply",
    to: "accepted",
    effects: "its key is accepted",
  },
  {
    from: "absent",
    trigger: "integrated",
    condition: "an operator creates an integration of this name, or opens a closed one",
    to: "accepted",
    effects: "the integration's key is accepted",
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
    effects: "its keys are deleted, except blocked ones",
  },
  {
    from: "accepted",
    trigger: "removed",
    condition: "it is deleted, or its only usable key is blocked",
    to: "absent",
    effects:
      "its checks, its history and its keys are deleted, except blocked ones; its checks leave their incidents, which resolve without members",
  },
] as const satisfies ReadonlyArray<Transition>

/** Transitions of an agent key (docs/rules.md#agent-keys). */
export const AgentKeyTransitions = [
  {
    from: "absent",
    trigger: "registered",
    condition:
      "a heartbeat with an unknown key; the agent id is unknown and fewer agents are pending than the limit, or it is known and has no pending key that was seen in the last hour",
    to: "pending",
    effects: "the agent is created as pending, or shows rotation_pending when it has an accepted key",
  },
  {
    from: "absent",
    trigger: "preseeded",
    condition: "a heartbeat with an unknown key whose fingerprint is listed in SERVICE_ACCEPT_FINGERPRINTS",
    to: "accepted",
    effects: "the agent is accepted; an accepted key that it had is superseded",
  },
  {
    from: "absent",
    trigger: "integrated",
    condition: "an operator creates an integration, or replaces its key",
    to: "accepted",
    effects: "the integration's former key is superseded",
  },
  {
    from: "pending",
    trigger: "preseeded",
    condition: "a heartbeat with a pending key whose fingerprint is listed in SERVICE_ACCEPT_FINGERPRINTS",
    to: "accepted",
    effects: "the agent is accepted; an accepted key that it had is superseded",
  },
  {
    from: "pending",
    trigger: "accepted",
    condition: "an operator accepts the agent, or accepts all",
    to: "accepted",
    effects: "the agent is accepted; an accepted key that it had is superseded",
  },
  {
    from: "pending",
    trigger: "blocked",
    condition: "an operator blocks the agent, or blocks all pending keys",
    to: "blocked",
    effects: "listed in the blacklist; an agent left without a usable key is deleted",
  },
  {
    from: "pending",
    trigger: "forgotten",
    condition: "another key asks for the same agent id and this one has been silent for an hour",
    to: "absent",
    effects: "the other key is pending in its place",
  },
  {
    from: "pending",
    trigger: "agent_removed",
    condition: "its agent is deleted, or all pending agents are removed",
    to: "absent",
    effects: "none",
  },
  {
    from: "accepted",
    trigger: "superseded",
    condition: "a replacement key of the same agent is accepted",
    to: "superseded",
    effects: "the replacement is the agent's accepted key from the same moment on",
  },
  {
    from: "accepted",
    trigger: "blocked",
    condition: "an operator blocks an agent that has no pending key",
    to: "blocked",
    effects: "listed in the blacklist; the agent is deleted",
  },
  {
    from: "accepted",
    trigger: "agent_removed",
    condition: "its agent is deleted",
    to: "absent",
    effects: "none",
  },
  {
    from: "superseded",
    trigger: "agent_removed",
    condition: "its agent is deleted",
    to: "absent",
    effects: "none",
  },
  {
    from: "blocked",
    trigger: "unblocked",
    condition: "an operator deletes its blacklist row, or all of them",
    to: "absent",
    effects: "its next heartbeat registers it as pending",
  },
] as const satisfies ReadonlyArray<Transition>
