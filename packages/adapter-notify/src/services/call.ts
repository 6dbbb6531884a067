import { spokenText, twiml } from "@tocsin/core/features/phones/callText"
import { plain } from "@tocsin/core/heart/notifications/cutText"
import type { Service } from "./Service.ts"
import { TWILIO, twilioRequest } from "./sms.ts"

/**
 * A call by Twilio's API, which says what is in the request: nothing has to reach Tocsin; 4,000 characters
 * (twilio.com/docs, "Calls resource", November 2026).
 */
export const call: Service = {
  address: TWILIO,
  limit: 4_000,
  escape: plain,
  isPhone: true,
  textOf: (message) =>
    message.about === "test" ? spokenText([], message) : spokenText(message.notifications),
  request: ({ count, incident, links, text }, keys) => {
    const { from = "", lang, language } = keys.definition
    const link = links.find(({ acts }) => acts)
    const action = link && incident?.resolved_at === undefined ? `${link.url}/call` : undefined
    const Twiml = twiml({ text, lang, language, action, count, isOpening: true })
    return twilioRequest("Calls", { From: from, Timeout: "30", Twiml }, keys)
  },
}
