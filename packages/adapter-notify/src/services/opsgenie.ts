import { plain } from "@tocsin/core/heart/notifications/cutText"
import { isEnd } from "../text/ChatMessage.ts"
import { alertKeyOf, type Service, summaryOf } from "./Service.ts"

const PRIORITIES = {
  critical: "P1",
  unknown: "P2",
  warning: "P3",
  test: "P5",
  resolved: "P5",
  ended: "P5",
} as const

/**
 * Alert API: the message has 130 characters, the alias 512, the description 15,000, and an open alert of the
 * alias is counted, not repeated (docs.opsgenie.com, "Alert API" and "Alerts and alert fields", November 2026).
 */
export const opsgenie: Service = {
  address: "https://api.opsgenie.com",
  limit: 8_000,
  escape: plain,
  hasDetails: true,
  hasWhy: true,
  request: (message, { key, path: base }) => {
    const headers = { authorization: `GenieKey ${key}` }
    const alias = alertKeyOf(message)
    if (isEnd(message.tone)) {
      const path = `${base}/v2/alerts/${encodeURIComponent(alias)}/close?identifierType=alias`
      // A resolution without a notification has no text.
      return { path, headers, body: { source: "tocsin", ...(message.text !== "" && { note: message.text }) } }
    }
    const body = {
      message: summaryOf(message, 130),
      alias,
      description: message.text,
      ...(message.why !== undefined && { details: { why: message.why } }),
      source: "tocsin",
      priority: PRIORITIES[message.tone],
    }
    return { path: `${base}/v2/alerts`, headers, body }
  },
}
