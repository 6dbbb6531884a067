import * as Instant from "@tocsin/contract/formats/Instant"
import { plain } from "@tocsin/core/heart/notifications/cutText"
import { isEnd } from "../text/ChatMessage.ts"
import { alertKeyOf, type Service, summaryOf } from "./Service.ts"

const SEVERITIES = {
  critical: "critical",
  unknown: "error",
  warning: "warning",
  test: "info",
  resolved: "info",
  ended: "info",
} as const

/**
 * Events API v2: the summary has 1,024 characters, the key 255, and an event of the same key repeats nothing.
 * 400 is final, 429 and 5xx ask for a repeat (developer.pagerduty.com, "Events API v2", and
 * github.com/PagerDuty/api-schema, `reference/events-v2`, November 2026).
 */
export const pagerduty: Service = {
  address: "https://events.pagerduty.com",
  limit: 8_000,
  escape: plain,
  hasLinks: true,
  hasDetails: true,
  hasWhy: true,
  request: (message, { path: base, routing_key }) => {
    const path = `${base}/v2/enqueue`
    const event = { routing_key, dedup_key: alertKeyOf(message) }
    const { incident, text, why } = message
    const payload = {
      summary: summaryOf(message, 1_024),
      source: incident?.opener_agent_id ?? "tocsin",
      severity: SEVERITIES[message.tone],
      ...(incident !== undefined && { timestamp: Instant.format(incident.opened_at) }),
      custom_details: { ...(why !== undefined && { why }), text },
    }
    // A resolution without a notification has no text.
    if (isEnd(message.tone))
      return { path, body: { ...event, event_action: "resolve", ...(text !== "" && { payload }) } }
    const links = message.links.map(({ title, url }) => ({ href: url, text: title }))
    return { path, body: { ...event, event_action: "trigger", payload, links } }
  },
}
