import { counter, gauge } from "../../kernel/engine/metrics/Counters.ts"

export const integrationsMetrics = {
  integrationRequests: counter(
    "tocsin_integration_requests_total",
    "Requests of senders by outcome: applied, not_found, invalid, too_many_checks, or rate_limited",
    ["integration", "outcome"],
  ),
  mailReplies: counter(
    "tocsin_mail_replies_total",
    "Replies to recipients and mails by SMTP code; the reply to a recipient is one, too",
    ["code"],
  ),
  integrationFullness: gauge(
    "tocsin_integration_fullness_ratio",
    "Checks of an integration as a part of its max_checks, from 0.8 on; at 1 it refuses new checks",
    ["integration"],
  ),
}
