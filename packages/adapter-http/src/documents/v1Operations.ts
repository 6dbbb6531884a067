import * as story from "./examples.ts"
import { counted, example, lastPage, type Operations, type Tag } from "./examples.ts"

const PENDING_AGENT = {
  agent_id: "db-02",
  hostname: "db-02.example.org",
  status: "alive",
  admission_state: "pending",
  rotation_pending: false,
  key_fingerprint: "60303ae22b998861",
  last_seen_at: "2026-01-31T08:29:41.077Z",
  features: { push: true, metrics: false },
}

const BLACKLIST_ITEM = {
  id: "0b1c8e5a7f3d42968c1e5b7a9d0f2c4e6a8b1d3f5c7e9a0b2d4f6a8c0e1b3d5f",
  key_fingerprint: "fd61a03af4f77d87",
  agent_id: "guest-17",
  hostname: "unknown.example.org",
  created_at: "2026-01-30T16:05:12.480Z",
  last_seen_at: "2026-01-31T08:12:03.951Z",
}

const STEADY_LOAD = {
  event_id: "019c137e-9e00-7a52-9b17-4c5d6e7f8091",
  check_id: "load",
  observed_at: "2026-01-31T08:29:58.344Z",
  status: "ok",
  exit_code: 0,
  duration_ms: 12,
  output: "LOAD OK - 0.42",
}

/** Opaque to clients; tests check only its length and characters. */
const CURSOR = "eyJ2IjoxLCJsIjoiYWdlbnRzIiwicCI6WyJ3ZWItMDEiXX0"

const reporting: Operations = {
  heartbeat: {
    summary: "Report that an agent is alive; register its key if it is unknown",
    description:
      "Reports that an agent is alive. Hostname, features and labels replace the previous ones. An unknown key is registered as pending; `accepted` is false until an operator accepts it. Safe to repeat.",
    request: { usual: ["A web server that is well", story.HEARTBEAT] },
    success: {
      accepted: ["An operator has accepted the key", { accepted: true }],
      pending: ["The key waits for an operator", { accepted: false }],
    },
  },
  events: {
    summary: "Report results of checks",
    description:
      "Reports check results of one agent. Tocsin applies them in order, all or none, and stores them before it answers. Unchanged results and known event_ids count as deduplicated, and so do results older than the newest one of their check, which are discarded. Safe to repeat.",
    request: {
      change: [
        "A disk that has filled up, and a load that is well",
        { agent_id: "web-01", events: [story.FULL_DISK, STEADY_LOAD] },
      ],
      quiet: [
        "A result without notifications, in an incident that several agents share",
        {
          agent_id: "web-01",
          events: [{ ...story.FULL_DISK, notifications_enabled: false, incident_key: "storage/full" }],
        },
      ],
    },
    success: {
      change: ["One result was a change, one was not", { accepted: 1, deduplicated: 1 }],
      repeated: ["The same batch once more", { accepted: 0, deduplicated: 2 }],
    },
  },
}

const agents: Operations = {
  getAgent: {
    summary: "Show one agent",
    description: "Shows one agent; its status is computed from when it was last seen.",
    success: { agent: ["An accepted agent that is alive", story.AGENT] },
  },
  deleteAgent: {
    summary: "Delete an agent and all that it owns",
    description:
      "Deletes an agent with its keys, checks and history, immediately for every reader. Incidents and notifications stay on record. A later heartbeat registers the agent again, as pending.",
    ...counted("The agent is deleted", 1),
  },
  listAgents: {
    summary: "List agents",
    description: "Lists agents, accepted and pending, by agent_id.",
    success: example("page", "The first of several pages", {
      items: [PENDING_AGENT, story.AGENT],
      next_cursor: CURSOR,
      prev_cursor: null,
    }),
  },
}

const admission: Operations = {
  acceptAgent: {
    summary: "Accept the pending key of one agent",
    description:
      "Accepts the agent's pending key, so that its events count. A replacement key replaces the accepted one. Without a pending key the count is 0. Safe to repeat.",
    ...counted("The key is accepted", 1),
  },
  blockAgent: {
    summary: "Block the pending key of one agent, or else its accepted one",
    description:
      "Blocks the agent's pending key, or else its accepted one, and puts it on the blacklist. An agent left without a key is deleted. **Not safe to repeat**: a second call may block the accepted key after the pending one.",
    ...counted("The key is blocked", 1),
  },
  acceptAll: {
    summary: "Accept all pending agents",
    description:
      "Accepts all pending agents; with include_rotation, replacement keys of accepted agents as well.",
    ...counted("Three agents are accepted", 3),
  },
  blockAll: {
    summary: "Block all pending keys",
    description:
      "Blocks every pending key, replacement keys included, and puts them on the blacklist. **Not safe to repeat**: a second call also blocks keys that came meanwhile.",
    ...counted("Two keys are blocked", 2),
  },
  removeAll: {
    summary: "Remove all pending agents",
    description: "Removes all pending agents. Their next heartbeats register them again.",
    ...counted("Two agents are removed", 2),
  },
  listBlacklist: {
    summary: "List blocked keys",
    description: "Lists blocked keys, newest first. This list goes forward only.",
    ...lastPage(BLACKLIST_ITEM),
  },
  deleteBlacklist: {
    summary: "Delete all rows of the blacklist",
    description: "Empties the blacklist. The next heartbeats of these keys register them again, as pending.",
    ...counted("Four rows are deleted", 4),
  },
  deleteBlacklistRow: {
    summary: "Delete one row of the blacklist",
    description:
      "Removes one key from the blacklist. Its next heartbeat registers it again, as pending. If no row has the id, the count is 0.",
    parameters: { key_id: BLACKLIST_ITEM.id },
    ...counted("The row is deleted", 1),
  },
}

const checks: Operations = {
  listChecks: {
    summary: "List current check states",
    description: "Lists the current state of every check, by agent_id and check_id.",
    ...lastPage(story.CHECK_STATE),
  },
  queryEvents: {
    summary: "List changes of check results",
    description: "Lists the results that changed their checks, newest stored first.",
    ...lastPage(story.STORED_EVENT),
  },
  getSummary: {
    summary: "Count agents, checks and open incidents; safe to poll",
    description: "Counts agents, checks and open incidents. Its size does not depend on them: safe to poll.",
    success: example("counts", "Two agents, of which one is pending, and one incident", {
      ...story.SUMMARY,
      generated_at: "2026-01-31T08:30:01.004Z",
    }),
  },
}

const incidents: Operations = {
  listIncidents: {
    summary: "List incidents",
    description:
      "Lists incidents. By status and descending, which is the default, open ones come first, the most severe of them first, then the newest. agent_id and check_id find every incident in which such a check is or was a member.",
    ...lastPage(story.OPEN_INCIDENT),
  },
}

const notifications: Operations = {
  listOutbox: {
    summary: "List notifications",
    description: "Lists notifications: pending, retried and ended.",
    ...lastPage(story.OUTBOX_ITEM, "A notification that is retried in a few seconds"),
  },
}

const health: Operations = {
  health: {
    summary: "Whether the process answers",
    description: "Answers while the process runs, even if the storage is down. For liveness probes.",
    success: { ok: ["It runs", { status: "ok" }] },
  },
  ready: {
    summary: "Whether the service can do its work",
    description:
      "Reports whether the storage can be read and written and the service is not shutting down. Tocsin probes the storage every second. For readiness probes and load balancers.",
    success: { ok: ["It is ready", { status: "ok" }] },
  },
}

export const v1Tags: ReadonlyArray<Tag> = [
  ["Reporting", "Heartbeats and results that agents push.", reporting],
  ["Agents", "Registered agents.", agents],
  ["Admission", "Accept and block agent keys.", admission],
  ["Checks", "Current and past check results.", checks],
  ["Incidents", "Open and resolved problems.", incidents],
  ["Notifications", "Notifications and their delivery.", notifications],
  ["Health", "For probes; no authentication.", health],
]
