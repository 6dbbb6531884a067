import { plain } from "@tocsin/core/heart/notifications/cutText"
import { form, type Service } from "./Service.ts"

/** Rings every minute for half an hour, unless one acknowledges it in the app. */
const EMERGENCY = { priority: "2", retry: "60", expire: "1800" }

/**
 * A message of 1,024 characters, without HTML; only 429 and 5xx are worth a repeat (pushover.net/api, November 2026).
 * An emergency ends by its tag, the incident.
 */
export const pushover: Service = {
  address: "https://api.pushover.net",
  limit: 1_024,
  escape: plain,
  request: (
    { incident, links, tags, text, tone },
    { definition: { emergency = false }, path, token, user },
  ) => {
    const isAlarm = emergency && tone === "critical"
    const acknowledge = links.find(({ acts }) => acts)
    const alarm = {
      ...EMERGENCY,
      ...(tags.length > 0 && { tags: tags.join() }),
      ...(acknowledge && { callback: acknowledge.url }),
    }
    const request = {
      path: `${path}/1/messages.json`,
      ...form({
        token,
        user,
        message: text,
        ...(isAlarm ? alarm : { priority: tone === "critical" ? "1" : "0" }),
      }),
    }
    if (!emergency || tone !== "resolved" || incident === undefined) return request
    const cancel = { path: `${path}/1/receipts/cancel_by_tag/${incident.id}.json`, ...form({ token }) }
    return { ...request, before: cancel }
  },
}
