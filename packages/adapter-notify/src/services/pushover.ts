import { plain } from "@tocsin/core/notifications/incidentText"
import { form, type Service } from "./Service.ts"

/** A message of 1,024 characters, without HTML; only 429 and 5xx are worth a repeat (pushover.net/api, November 2026). */
export const pushover: Service = {
  address: "https://api.pushover.net",
  limit: 1_024,
  escape: plain,
  request: ({ text, tone }, { path, token, user }) => ({
    path: `${path}/1/messages.json`,
    ...form({ token, user, message: text, priority: tone === "critical" ? "1" : "0" }),
  }),
}
