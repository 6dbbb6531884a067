import { counter, gauge, histogram } from "./Counters.ts"

/** From half a millisecond for a fast heartbeat to ten seconds, when most clients have given up. */
const REQUEST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** A disk's sync takes 0.1 ms to tens of milliseconds; a remote database takes longer. */
export const COMMIT_SECONDS = [
  0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]
const GROUP_COMMANDS = [1, 2, 4, 8, 16, 32, 64, 128, 256]
/** Agents send immediately, or after an outage of hours. */
const LAG_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 21_600]
const ATTEMPT_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]
const DELAY_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

const ingestion = {
  httpRequests: counter("tocsin_http_requests_total", "Requests answered", ["route", "method", "status"]),
  httpDuration: histogram(
    "tocsin_http_request_duration_seconds",
    "Time from a request's headers, or an agent's whole body, to the answer",
    REQUEST_SECONDS,
    ["route", "method"],
  ),
  failedAuthentications: counter(
    "tocsin_failed_authentications_total",
    "Requests without a valid token, including those beyond a budget",
  ),
  throttled: counter(
    "tocsin_throttled_requests_total",
    "Requests refused because their client address exceeded its limit: too many without a valid token, or too much data with keys that are not accepted",
    ["reason"],
  ),
  heartbeats: counter("tocsin_heartbeats_total", "Heartbeats by outcome", ["outcome"]),
  enrolments: counter("tocsin_enrolments_total", "Agents' requests to be accepted by a token, by outcome", [
    "outcome",
  ]),
  signIns: counter(
    "tocsin_sign_ins_total",
    "Sign-ins by OpenID Connect, by outcome: signed_in, or what the answer refuses (docs/sign-in.md)",
    ["outcome"],
  ),
  batches: counter("tocsin_event_batches_total", "Batches of check results by outcome", ["outcome"]),
  results: counter(
    "tocsin_check_results_total",
    "Check results taken, by outcome; all outcomes but changed count as deduplicated",
    ["outcome"],
  ),
  integrationRequests: counter(
    "tocsin_integration_requests_total",
    "Requests of senders by outcome: applied, not_found, invalid, too_many_checks, or rate_limited",
    ["integration", "outcome"],
  ),
  integrationFullness: gauge(
    "tocsin_integration_fullness_ratio",
    "Checks of an integration as a part of its max_checks, from 0.8 on; at 1 it refuses new checks",
    ["integration"],
  ),
  numbersRefused: counter(
    "tocsin_numbers_refused_total",
    "Numbers that were not kept, by the bound that their series exceeds: of a check, of an agent, or of all",
    ["bound"],
  ),
  numbersLost: counter(
    "tocsin_numbers_lost_total",
    "Numbers that were not written: for half an hour, before the server stopped, or for lack of room",
  ),
  watchProbes: counter(
    "tocsin_watch_probes_total",
    "Probes of watches by outcome: their status, or dropped where another replica had run the same probe",
    ["outcome"],
  ),
  resultLag: histogram(
    "tocsin_check_result_lag_seconds",
    "Time between a check's run, by its agent's clock, and the arrival of its result",
    LAG_SECONDS,
  ),
}

const delivery = {
  attempts: counter(
    "tocsin_notifier_attempts_total",
    "Attempts to send a notification, by outcome: delivered, deferred, refused, shadow for a shadow receiver, released by a stop, or threw",
    ["notifier", "outcome"],
  ),
  attemptDuration: histogram(
    "tocsin_notifier_attempt_duration_seconds",
    "Duration of an attempt to send a notification",
    ATTEMPT_SECONDS,
    ["notifier"],
  ),
  deliveryDelay: histogram(
    "tocsin_notification_delay_seconds",
    "Time between a notification's due time and its delivery",
    DELAY_SECONDS,
    ["notifier"],
  ),
  givenUp: counter(
    "tocsin_notifications_given_up_total",
    "Notifications that became dead letters: refused for good, or still undelivered after the last attempt",
    ["notifier"],
  ),
  resends: counter(
    "tocsin_alert_resends_total",
    "Requests that resent alerts to an alert router, by outcome, as for attempts",
    ["outcome"],
  ),
}

const policy = {
  policyVersion: gauge(
    "tocsin_policy_version",
    "Stored version of the policy that this process follows; 0 while none is stored, absent where a file or a program decides",
  ),
  policyIsNewest: gauge(
    "tocsin_policy_is_newest",
    "Whether that is the newest stored version, as of the last look: 1 or 0",
  ),
  policyVersionsRefused: counter(
    "tocsin_policy_versions_refused_total",
    "Stored versions of the policy that this process could not read, and does not follow",
  ),
}

const state = {
  agents: gauge(
    "tocsin_agents",
    "Agents by status: alive, stale and dead agents are accepted, pending ones await an operator",
    ["status"],
  ),
  keysBlocked: gauge("tocsin_agent_keys_blocked", "Agent keys on the blacklist, counted up to 10000"),
  checks: gauge("tocsin_checks", "Checks by their latest status", ["status"]),
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

const storage = {
  storageUp: gauge("tocsin_storage_up", "Whether the storage answers and takes writes: 1 or 0"),
  storageFailures: counter(
    "tocsin_storage_failures_total",
    "Commands that the storage failed to execute, by reason",
    ["reason"],
  ),
  groupSize: histogram("tocsin_commit_group_size", "Commands in one commit", GROUP_COMMANDS, [
    "storage",
    "way",
  ]),
  commitDuration: histogram(
    "tocsin_commit_duration_seconds",
    "Time from the start of a group's transaction until it is durable",
    COMMIT_SECONDS,
    ["storage", "way"],
  ),
  groupFailures: counter(
    "tocsin_commit_failures_total",
    "Groups of commands that were rolled back; each command is then retried, alone or in another group",
    ["storage", "way"],
  ),
  cacheLookups: counter(
    "tocsin_row_cache_lookups_total",
    "Row cache lookups: found (hit), absent (miss), or found but changed meanwhile by another process (stale)",
    ["storage", "result"],
  ),
  agentsPassedOver: counter(
    "tocsin_agents_skipped_locked_total",
    "Agents that a bulk task skipped because their rows stayed locked for longer than a second",
    ["work"],
  ),
}

/** Every metric of the core, in the order of the metrics page. Adapters define their own. */
export const metricSubjects = {
  "Requests and ingestion": ingestion,
  Notifications: delivery,
  Policy: policy,
  "State, read at each scrape": state,
  Storage: storage,
}

export const metricDefinitions = { ...ingestion, ...delivery, ...policy, ...state, ...storage }
