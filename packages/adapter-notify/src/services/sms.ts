import { plain } from "@tocsin/core/heart/notifications/cutText"
import { digestText, lineOf, testText } from "@tocsin/core/heart/notifications/incidentText"
import { sharedWhy } from "@tocsin/core/heart/notifications/whyText"
import type { ChatMessage } from "../text/ChatMessage.ts"
import { smsText } from "../text/smsText.ts"
import type { Service } from "./Service.ts"
import { TWILIO, twilioRequest } from "./twilio.ts"

const MEDIUM = { limit: 459, escape: plain, hasNoLinks: true } as const

const textOf = (message: ChatMessage): string => {
  if (message.about === "test") return smsText(testText, undefined)
  const why = sharedWhy(message.notifications, "brief")
  if (message.about === "digest")
    return smsText(digestText(message.notifications, { ...MEDIUM, hasWhy: true }), undefined, why)
  const [notification] = message.notifications
  const { acknowledge, incident } = notification.links ?? {}
  return smsText(lineOf(notification), acknowledge?.url ?? incident, why)
}

const MESSAGING_SERVICE = /^MG[0-9a-f]{32}$/

/** A message to a phone by Twilio's API, of at most 459 septets (twilio.com/docs, "Message resource", November 2026). */
export const sms: Service = {
  address: TWILIO,
  ...MEDIUM,
  textOf,
  request: ({ text }, keys) => {
    const { from = "" } = keys.definition
    const sender = MESSAGING_SERVICE.test(from) ? { MessagingServiceSid: from } : { From: from }
    return twilioRequest("Messages", { ...sender, Body: text }, keys)
  },
}
