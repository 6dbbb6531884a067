import { counter, gauge, histogram } from "./MetricDefinition.ts"

/** From a tenth of a millisecond, which a heartbeat takes at the least, to the ten seconds after which nobody waits. */
const REQUEST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** A disk's sync takes a tenth of a millisecond to tens of them; a database far away takes more. */
const COMMIT_SECONDS = [
  0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]
const GROUP_COMMANDS = [1, 2, 4, 8, 16, 32, 64, 128, 256]
/** Agents send at once, or what they kept through an outage of hours. */
const LAG_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 21_600]
const ATTEMPT_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]
const DELAY_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]
const GC_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1]

/** What is counted of requests and of what agents send. */
const ingestion = {
  httpRequests: counter("tocsin_http_requests_total", "Requests that were answered", {
    labels: ["route", "method", "status"],
  }),
  httpDuration: histogram(
    "tocsin_http_request_duration_seconds",
    "Time from a request's headers to its answer",
    { labels: ["route", "method"], buckets: REQUEST_SECONDS },
  ),
  failedAuthentications: counter(
    "tocsin_failed_authentications_total",
    "Requests without a valid token, throttled ones included",
  ),
  throttled: counter(
    "tocsin_throttled_requests_total",
    "Requests refused because their client address sent too many of their kind: without a valid token, or too much with keys that are not accepted",
    { labels: ["reason"] },
  ),
  heartbeats: counter("tocsin_heartbeats_total", "Heartbeats by what became of them", {
    labels: ["outcome"],
  }),
  batches: counter("tocsin_event_batches_total", "Batches of check results by what became of them", {
    labels: ["outcome"],
  }),
  results: counter(
    "tocsin_check_results_total",
    "Check results that were taken, by what became of them; all but changed ones were deduplicated",
    { labels: ["outcome"] },
  ),
  resultLag: histogram(
    "tocsin_check_result_lag_seconds",
    "Time from when a check ran, by its agent's clock, to when its result was taken",
    { buckets: LAG_SECONDS },
  ),
}

/** What is counted of notifications. */
const delivery = {
  attempts: counter("tocsin_notifier_attempts_total", "Attempts to send a notification, by their result", {
    labels: ["notifier", "outcome"],
  }),
  attemptDuration: histogram(
    "tocsin_notifier_attempt_duration_seconds",
    "Time that an attempt to send a notification took",
    { labels: ["notifier"], buckets: ATTEMPT_SECONDS },
  ),
  deliveryDelay: histogram(
    "tocsin_notification_delay_seconds",
    "Time from when a notification was due to when its receiver had it",
    { labels: ["notifier"], buckets: DELAY_SECONDS },
  ),
  givenUp: counter(
    "tocsin_notifications_given_up_total",
    "Notifications that became dead letters: refused for good, or not delivered within the attempts and the time there are",
    { labels: ["notifier"] },
  ),
  resends: counter(
    "tocsin_alert_resends_total",
    "Posts that repeated alerts to an alert router, by their result",
    {
      labels: ["outcome"],
    },
  ),
}

/** What is read from the storage at each scrape. */
const state = {
  agents: gauge(
    "tocsin_agents",
    "Agents by status: alive, stale and dead ones are accepted, pending ones wait for an operator",
    { labels: ["status"] },
  ),
  keysBlocked: gauge("tocsin_agent_keys_blocked", "Agent keys on the blacklist, counted up to 10000"),
  checks: gauge("tocsin_checks", "Checks by the status they reported last", { labels: ["status"] }),
  incidents: gauge("tocsin_incidents_open", "Open incidents by severity, counted up to 10000 of each", {
    labels: ["severity"],
  }),
  outboxItems: gauge(
    "tocsin_outbox_items",
    "Notifications that are not sent, by notifier and state, counted up to 10000 of each; failed ones are dead letters",
    { labels: ["notifier", "state"] },
  ),
  outboxAge: gauge(
    "tocsin_outbox_oldest_age_seconds",
    "Age of the oldest notification that waits to be sent or is being sent; 0 where none does",
    { labels: ["notifier"] },
  ),
}

/** What is counted of the storage. */
const storage = {
  storageUp: gauge("tocsin_storage_up", "Whether the storage answers and takes writes: 1 or 0"),
  storageFailures: counter(
    "tocsin_storage_failures_total",
    "Commands that the storage did not carry out, by reason",
    {
      labels: ["reason"],
    },
  ),
  groupSize: histogram("tocsin_commit_commands", "Commands that shared one commit", {
    labels: ["storage", "way"],
    buckets: GROUP_COMMANDS,
  }),
  commitDuration: histogram(
    "tocsin_commit_duration_seconds",
    "Time from the start of a group's transaction until it was durable",
    { labels: ["storage", "way"], buckets: COMMIT_SECONDS },
  ),
  groupFailures: counter(
    "tocsin_commit_failures_total",
    "Groups of commands of which nothing was kept; each command was then decided anew, among others or alone",
    { labels: ["storage", "way"] },
  ),
  cacheLookups: counter(
    "tocsin_row_cache_lookups_total",
    "Looks for rows in the cache: found (hit), to be read (miss), or found but changed by somebody else meanwhile (stale)",
    { labels: ["storage", "result"] },
  ),
  agentsPassedOver: counter(
    "tocsin_agents_passed_over_total",
    "Agents that work on many of them left undone because another session held their rows for longer than a second",
    { labels: ["work"] },
  ),
  connections: gauge("tocsin_postgres_connections", "Connections to PostgreSQL by pool and use", {
    labels: ["pool", "state"],
  }),
  connectionsWaiting: gauge(
    "tocsin_postgres_connections_waiting",
    "Callers that wait for a connection, by pool",
    {
      labels: ["pool"],
    },
  ),
  logBytes: gauge("tocsin_sqlite_log_bytes", "Size of what SQLite's write-ahead log holds"),
  fileBytes: gauge("tocsin_sqlite_file_bytes", "Size of SQLite's database file"),
  syncDuration: histogram(
    "tocsin_sqlite_sync_duration_seconds",
    "Time that a sync of the write-ahead log took",
    {
      buckets: COMMIT_SECONDS,
    },
  ),
  diskFree: gauge(
    "tocsin_data_filesystem_avail_bytes",
    "Free bytes of the file system that holds the database file",
  ),
  diskSize: gauge(
    "tocsin_data_filesystem_size_bytes",
    "Size of the file system that holds the database file",
  ),
}

/** What is known of the process, by the names that prom-client made usual. */
const processMetrics = {
  buildInfo: gauge("tocsin_build_info", "Always 1; the labels tell the version", {
    labels: ["version", "node"],
  }),
  startTime: gauge("process_start_time_seconds", "When the process started, in seconds since 1970"),
  cpuUser: counter("process_cpu_user_seconds_total", "Processor time spent in the process's own code"),
  cpuSystem: counter(
    "process_cpu_system_seconds_total",
    "Processor time spent in the system for the process",
  ),
  cpu: counter("process_cpu_seconds_total", "Processor time spent by the process"),
  residentMemory: gauge("process_resident_memory_bytes", "Memory that the process holds"),
  openFiles: gauge("process_open_fds", "Open file descriptors"),
  mostFiles: gauge("process_max_fds", "Most file descriptors that may be open"),
  heapTotal: gauge("nodejs_heap_size_total_bytes", "Size of the JavaScript heap"),
  heapUsed: gauge("nodejs_heap_size_used_bytes", "Memory in use on the JavaScript heap"),
  externalMemory: gauge("nodejs_external_memory_bytes", "Memory outside of the heap that its objects hold"),
  gcDuration: histogram("nodejs_gc_duration_seconds", "Time that collections of garbage took, by kind", {
    labels: ["kind"],
    buckets: GC_SECONDS,
  }),
  loopLagMin: gauge("nodejs_eventloop_lag_min_seconds", "Least lag of the event loop since the last scrape"),
  loopLagMax: gauge(
    "nodejs_eventloop_lag_max_seconds",
    "Greatest lag of the event loop since the last scrape",
  ),
  loopLagMean: gauge("nodejs_eventloop_lag_mean_seconds", "Mean lag of the event loop since the last scrape"),
  loopLagP50: gauge("nodejs_eventloop_lag_p50_seconds", "Median lag of the event loop since the last scrape"),
  loopLagP90: gauge(
    "nodejs_eventloop_lag_p90_seconds",
    "Lag of the event loop that 90 % of its turns stayed below since the last scrape",
  ),
  loopLagP99: gauge(
    "nodejs_eventloop_lag_p99_seconds",
    "Lag of the event loop that 99 % of its turns stayed below since the last scrape",
  ),
  loopActive: counter("nodejs_eventloop_active_seconds_total", "Time in which the event loop was at work"),
  loopIdle: counter(
    "nodejs_eventloop_idle_seconds_total",
    "Time in which the event loop waited for something to do",
  ),
  versionInfo: gauge("nodejs_version_info", "Always 1; the labels tell the version of Node.js", {
    labels: ["version", "major", "minor", "patch"],
  }),
}

/** Every metric of the service, by what the code calls it: the one place for names, meanings, labels and buckets. */
export const metricDefinitions = { ...ingestion, ...delivery, ...state, ...storage, ...processMetrics }

/** The same by subject, in the order in which they are described. */
export const metricSubjects = [
  { title: "Requests and ingestion", definitions: ingestion },
  { title: "Notifications", definitions: delivery },
  { title: "State, read at each scrape", definitions: state },
  { title: "Storage", definitions: storage },
  { title: "Process", definitions: processMetrics },
]
