import { enrolOutcomes, heartbeatOutcomes } from "../model/admissionOutcomes.ts"
import { counter, histogram } from "../../kernel/engine/metrics/Counters.ts"

/** From half a millisecond for a fast heartbeat to ten seconds, when most clients have given up. */
const REQUEST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** Agents send immediately, or after an outage of hours. */
const LAG_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 21_600]

/** Metrics of requests, and of what agents report. */
export const requestMetrics = {
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
    ["failed_authentication", "unknown_key"],
  ),
  heartbeats: counter(
    "tocsin_heartbeats_total",
    "Heartbeats by outcome",
    ["outcome"],
    [...heartbeatOutcomes, "rate_limited", "registration_limited"],
  ),
  enrolments: counter(
    "tocsin_enrolments_total",
    "Agents' requests to be accepted by a token, by outcome",
    ["outcome"],
    enrolOutcomes,
  ),
  batches: counter(
    "tocsin_event_batches_total",
    "Batches of check results by outcome",
    ["outcome"],
    ["applied", "agent_blocked", "agent_not_accepted"],
  ),
  results: counter(
    "tocsin_check_results_total",
    "Check results taken, by outcome; all outcomes but changed count as deduplicated",
    ["outcome"],
    ["changed", "unchanged", "late", "known_event"],
  ),
  resultLag: histogram(
    "tocsin_check_result_lag_seconds",
    "Time between a check's run, by its agent's clock, and the arrival of its result",
    LAG_SECONDS,
  ),
}
