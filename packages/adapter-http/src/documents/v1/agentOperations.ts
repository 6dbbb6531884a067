import type { OperationText } from "../Documentation.ts"
import * as story from "../story.ts"

/** What agents push. */
export const agentOperations: Readonly<Record<string, OperationText>> = {
  heartbeat: {
    tag: "Reporting",
    description:
      "Says that an agent is alive, and what it is like: hostname, features and labels replace those of before. An unknown key is registered and waits for an operator; until it is accepted, `accepted` is false. Safe to repeat.",
    request: {
      usual: { summary: "A web server that is well", value: story.HEARTBEAT },
    },
    success: {
      accepted: { summary: "An operator has accepted the key", value: { accepted: true } },
      pending: { summary: "The key waits for an operator", value: { accepted: false } },
    },
  },
  events: {
    tag: "Reporting",
    description:
      "Reports results of checks of one agent. They are applied in their order, all or none, and are kept once this is answered. What repeats the result before it, an event_id that is known, or a result older than the newest one of its check counts as deduplicated, so a batch is safe to repeat.",
    request: {
      change: {
        summary: "A disk that has filled up, and a load that is well",
        value: { agent_id: "web-01", events: [story.FULL_DISK, story.STEADY_LOAD] },
      },
      quiet: {
        summary: "A result that nobody is to be told of, under a key that several agents share",
        value: {
          agent_id: "web-01",
          events: [{ ...story.FULL_DISK, notifications_enabled: false, incident_key: "storage/full" }],
        },
      },
    },
    success: {
      change: { summary: "One result was a change, one was not", value: { accepted: 1, deduplicated: 1 } },
      repeated: { summary: "The same batch once more", value: { accepted: 0, deduplicated: 2 } },
    },
  },
}

/** For probes. */
export const healthOperations: Readonly<Record<string, OperationText>> = {
  health: {
    tag: "Health",
    description: "Answers as long as the process does, whatever becomes of its storage. For liveness probes.",
    success: { ok: { summary: "It runs", value: { status: "ok" } } },
  },
  ready: {
    tag: "Health",
    description:
      "Tells whether the storage can be read and written to, and the service is not about to stop; known from a probe a second. For readiness probes and load balancers.",
    success: { ok: { summary: "It is ready", value: { status: "ok" } } },
  },
}
