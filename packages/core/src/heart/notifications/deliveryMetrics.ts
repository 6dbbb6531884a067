import { counter, histogram } from "../../kernel/engine/metrics/Counters.ts"

const ATTEMPT_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]
const DELAY_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300]

export const deliveryMetrics = {
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
