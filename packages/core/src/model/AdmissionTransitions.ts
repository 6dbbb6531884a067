import { stateTable } from "@tocsin/contract/TransitionTable"

/** Transitions of an agent's admission (docs/rules.md#agent-keys). */
export const AgentTransitions = stateTable({
  absent: {
    "registered -> pending":
      "a heartbeat with an unknown key under an unknown agent id, fewer pending agents than the limit | its key is pending",
    "preseeded -> accepted":
      "a heartbeat with an unknown key under an unknown agent id; the key's fingerprint is listed in SERVICE_ACCEPT_FINGERPRINTS; the limit on pending agents does not apply | its key is accepted",
    "integrated -> accepted":
      "an operator creates an integration of this name, or opens a closed one | the integration's key is accepted",
  },
  pending: {
    "key_accepted -> accepted":
      "its pending key, or a preseeded one, is accepted, also by a token | its events count from now on",
    "removed -> absent":
      "it is deleted, all pending agents are removed, or its only usable key is blocked | its keys are deleted, except blocked ones",
  },
  accepted: {
    "key_accepted -> accepted": "a replacement key is accepted | the old key is superseded",
    "removed -> absent":
      "it is deleted, or its only usable key is blocked | its checks, its history and its keys are deleted, except blocked ones; its checks leave their incidents, which resolve without members",
  },
})

/** Transitions of an agent key (docs/rules.md#agent-keys). */
export const AgentKeyTransitions = stateTable({
  absent: {
    "registered -> pending":
      "a heartbeat with an unknown key; the agent id is unknown and fewer agents are pending than the limit, or it is known and has no pending key that was seen in the last hour | the agent is created as pending, or shows rotation_pending when it has an accepted key",
    "preseeded -> accepted":
      "a heartbeat with an unknown key whose fingerprint is listed in SERVICE_ACCEPT_FINGERPRINTS | the agent is accepted; an accepted key that it had is superseded",
    "integrated -> accepted":
      "an operator creates an integration, or replaces its key | the integration's former key is superseded",
  },
  pending: {
    "preseeded -> accepted":
      "a heartbeat with a pending key whose fingerprint is listed in SERVICE_ACCEPT_FINGERPRINTS | the agent is accepted; an accepted key that it had is superseded",
    "accepted -> accepted":
      "an operator accepts the agent, or accepts all | the agent is accepted; an accepted key that it had is superseded",
    "enrolled -> accepted":
      "its agent has no accepted key and shows the token of an open enrolment | the agent is accepted; the enrolment has a use less",
    "blocked -> blocked":
      "an operator blocks the agent, or blocks all pending keys | listed in the blacklist; an agent left without a usable key is deleted",
    "forgotten -> absent":
      "another key asks for the same agent id and this one has been silent for an hour | the other key is pending in its place",
    "agent_removed -> absent": "its agent is deleted, or all pending agents are removed",
  },
  accepted: {
    "superseded -> superseded":
      "a replacement key of the same agent is accepted | the replacement is the agent's accepted key from the same moment on",
    "blocked -> blocked":
      "an operator blocks an agent that has no pending key | listed in the blacklist; the agent is deleted",
    "agent_removed -> absent": "its agent is deleted",
  },
  superseded: {
    "agent_removed -> absent": "its agent is deleted",
  },
  blocked: {
    "unblocked -> absent":
      "an operator deletes its blacklist row, or all of them | its next heartbeat registers it as pending",
  },
})
