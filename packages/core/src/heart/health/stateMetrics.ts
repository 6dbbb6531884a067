import { gauge } from "../../kernel/engine/metrics/Counters.ts"

/** Metrics that are read at each scrape. */
export const stateMetrics = {
  agents: gauge(
    "tocsin_agents",
    "Agents by status: alive, stale and dead agents are accepted, pending ones await an operator",
    ["status"],
  ),
  keysBlocked: gauge("tocsin_agent_keys_blocked", "Agent keys on the blacklist, counted up to 10000"),
  checks: gauge("tocsin_checks", "Checks by their latest status", ["status"]),
  checksLate: gauge("tocsin_checks_late", "Late checks by their severity, at most 10000 of them counted", [
    "severity",
  ]),
  incidents: gauge("tocsin_incidents_open", "Open incidents by severity, counted up to 10000 of each", [
    "severity",
  ]),
  outboxItems: gauge(
    "tocsin_outbox_items",
    "Undelivered notifications by notifier and state, counted up to 10000 of each; failed ones are dead letters",
    ["notifier", "state"],
  ),
  outboxAge: gauge(
    "tocsin_outbox_oldest_age_seconds",
    "Longest wait of a notification that is pending, in retry or being sent, since its creation, release or replay; 0 if there is none",
    ["notifier"],
  ),
}
