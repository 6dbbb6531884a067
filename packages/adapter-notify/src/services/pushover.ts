import { plain } from "@tocsin/core/heart/notifications/cutText"
import { isEnd } from "../text/ChatMessage.ts"
import { form, type Service, type ServiceKeys } from "./Service.ts"

/** Rings every minute for half an hour, unless one acknowledges it in the app. */
const EMERGENCY = { priority: "2", retry: "60", expire: "1800" }

const cancelling = (tag: string, { path, token }: Pick<ServiceKeys, "path" | "token">) => ({
  path: `${path}/1/receipts/cancel_by_tag/${tag}.json`,
  ...form({ token }),
})

/**
 * A message of 1,024 characters, without HTML; only 429 and 5xx are worth a repeat (pushover.net/api, November 2026).
 * An emergency ends by its tag, the incident.
 */
export const pushover: Service = {
  address: "https://api.pushover.net",
  limit: 1_024,
  escape: plain,
  endAlarm: cancelling,
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
    if (!emergency || !isEnd(tone) || incident === undefined) return request
    return { ...request, before: cancelling(incident.id, { path, token }) }
  },
}
