import type { OperationTexts } from "./OperationTexts.ts"

/** The texts of the operations of /api/v1. */
export const v1Texts: OperationTexts = {
  Reporting: {
    heartbeat: [
      "Report that an agent is alive; register its key if it is unknown",
      "Reports that an agent is alive. Hostname, features and labels replace the previous ones. An unknown key is registered as pending; `accepted` is false until an operator accepts it. Safe to repeat.",
    ],
    events: [
      "Report results of checks",
      "Reports check results of one agent. Tocsin applies them in order, all or none, and stores them before it answers. Unchanged results, known event_ids and results older than the newest one of their check count as deduplicated. Safe to repeat.",
    ],
  },
  Health: {
    health: [
      "Whether the process answers",
      "Answers while the process runs, even if the storage is down. For liveness probes.",
    ],
    ready: [
      "Whether the service can do its work",
      "Reports whether the storage can be read and written and the service is not shutting down. Tocsin probes the storage every second. For readiness probes and load balancers.",
    ],
  },
  Agents: {
    getAgent: ["Show one agent", "Shows one agent; its status is computed from when it was last seen."],
    deleteAgent: [
      "Delete an agent and all that it owns",
      "Deletes an agent with its keys, checks and history, immediately for every reader. Incidents and notifications stay on record. A later heartbeat registers the agent again, as pending.",
    ],
    listAgents: ["List agents", "Lists agents, accepted and pending, by agent_id."],
  },
  Admission: {
    acceptAgent: [
      "Accept the pending key of one agent",
      "Accepts the agent's pending key, so that its events count. A replacement key replaces the accepted one. Without a pending key the count is 0. Safe to repeat.",
    ],
    blockAgent: [
      "Block the pending key of one agent, or else its accepted one",
      "Blocks the agent's pending key, or else its accepted one, and puts it on the blacklist. An agent left without a key is deleted. **Not safe to repeat**: a second call may block the accepted key after the pending one.",
    ],
    acceptAll: [
      "Accept all pending agents",
      "Accepts all pending agents; with include_rotation, replacement keys of accepted agents as well.",
    ],
    blockAll: [
      "Block all pending keys",
      "Blocks every pending key, replacement keys included, and puts them on the blacklist.",
    ],
    removeAll: [
      "Remove all pending agents",
      "Removes all pending agents. Their next heartbeats register them again.",
    ],
    listBlacklist: ["List blocked keys", "Lists blocked keys, newest first. This list goes forward only."],
    deleteBlacklist: [
      "Delete all rows of the blacklist",
      "Empties the blacklist. The next heartbeats of these keys register them again, as pending.",
    ],
    deleteBlacklistRow: [
      "Delete one row of the blacklist",
      "Removes one key from the blacklist. Its next heartbeat registers it again, as pending. If no row has the id, the count is 0.",
    ],
  },
  Checks: {
    listChecks: [
      "List current check states",
      "Lists the current state of every check, by agent_id and check_id.",
    ],
    queryEvents: [
      "List changes of check results",
      "Lists the results that changed their checks, newest stored first.",
    ],
    getSummary: [
      "Count agents, checks and open incidents; safe to poll",
      "Counts agents, checks and open incidents. Its size does not depend on them: safe to poll.",
    ],
  },
  Incidents: {
    listIncidents: [
      "List incidents",
      "Lists incidents. By status and descending, which is the default, open ones come first, the most severe of them first, then the newest. agent_id and check_id find every incident in which such a check is or was a member.",
    ],
  },
  Notifications: {
    listOutbox: ["List notifications", "Lists notifications: pending, retried and ended."],
  },
}
