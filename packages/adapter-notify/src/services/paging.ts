import * as Instant from "@tocsin/contract/Instant"
import { cutText, plain } from "@tocsin/core/notifications/incidentText"
import type { Service, Written } from "./Service.ts"

const titleOf = ({ text }: Written, limit: number): string =>
  cutText(text.split("\n").slice(0, 2).join(": "), { limit, escape: plain })

/** The alert of a message: one for each incident, and one for a test. */
const keyOf = ({ id, incident }: Written): string => incident?.id ?? id

const PAGERDUTY = {
  critical: "critical",
  unknown: "error",
  warning: "warning",
  test: "info",
  resolved: "info",
}

/**
 * Events API v2: the summary has 1,024 characters, the key 255, and an event of the same key repeats
 * nothing (PagerDuty developer docs, "Events API v2").
 */
export const pagerduty: Service = {
  address: "https://events.pagerduty.com",
  limit: 8_000,
  escape: plain,
  request: (message, { path: base, routing_key }) => {
    const path = `${base}/v2/enqueue`
    const event = { routing_key, dedup_key: keyOf(message) }
    if (message.tone === "resolved") return { path, body: { ...event, event_action: "resolve" } }
    const { incident } = message
    const payload = {
      summary: titleOf(message, 1_024),
      source: incident?.opener_agent_id ?? "tocsin",
      severity: PAGERDUTY[message.tone],
      ...(incident !== undefined && { timestamp: Instant.format(incident.opened_at) }),
      custom_details: { text: message.text },
    }
    const links = message.links.map(({ title, url }) => ({ href: url, text: title }))
    return { path, body: { ...event, event_action: "trigger", payload, links } }
  },
}

const OPSGENIE = { critical: "P1", unknown: "P2", warning: "P3", test: "P5", resolved: "P5" }

/**
 * Alert API: the message has 130 characters, the alias 512, the description 15,000, and an open alert of the
 * alias is counted, not repeated (docs.opsgenie.com, "Alert API").
 */
export const opsgenie: Service = {
  address: "https://api.opsgenie.com",
  limit: 8_000,
  escape: plain,
  request: (message, { key, path: base }) => {
    const headers = { authorization: `GenieKey ${key}` }
    const alias = keyOf(message)
    if (message.tone === "resolved") {
      const path = `${base}/v2/alerts/${encodeURIComponent(alias)}/close?identifierType=alias`
      return { path, headers, body: { source: "tocsin" } }
    }
    const body = {
      message: titleOf(message, 130),
      alias,
      description: message.text,
      source: "tocsin",
      priority: OPSGENIE[message.tone],
    }
    return { path: `${base}/v2/alerts`, headers, body }
  },
}
