import type { OperationText } from "../Documentation.ts"
import * as story from "../story.ts"

/** What agents push. */
export const agentOperations: Readonly<Record<string, OperationText>> = {
  heartbeat: {
    tag: "Reporting",
    description:
      "Reports that an agent is alive. Hostname, features and labels replace the previous ones. An unknown key is registered as pending; `accepted` is false until an operator accepts it. Safe to repeat.",
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
      "Reports check results of one agent. Tocsin applies them in order, all or none, and stores them before it answers. Unchanged results, known event_ids and results older than the newest one of their check count as deduplicated. Safe to repeat.",
    request: {
      change: {
        summary: "A disk that has filled up, and a load that is well",
        value: { agent_id: "web-01", events: [story.FULL_DISK, story.STEADY_LOAD] },
      },
      quiet: {
        summary: "A result without notifications, in an incident that several agents share",
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
    description: "Answers while the process runs, even if the storage is down. For liveness probes.",
    success: { ok: { summary: "It runs", value: { status: "ok" } } },
  },
  ready: {
    tag: "Health",
    description:
      "Reports whether the storage can be read and written and the service is not shutting down. Tocsin probes the storage every second. For readiness probes and load balancers.",
    success: { ok: { summary: "It is ready", value: { status: "ok" } } },
  },
}
