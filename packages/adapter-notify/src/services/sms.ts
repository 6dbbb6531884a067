import { plain, type TextMedium } from "@tocsin/core/heart/notifications/cutText"
import { digestText } from "@tocsin/core/heart/notifications/digestText"
import { acknowledgedIn, lineOf, testText } from "@tocsin/core/heart/notifications/incidentText"
import { septetsOf, withoutMarks } from "@tocsin/core/heart/notifications/phoneLetters"
import { readerTexts } from "@tocsin/core/heart/notifications/readerTexts"
import { sharedWhy } from "@tocsin/core/heart/notifications/whyText"
import type { ChatMessage } from "../text/ChatMessage.ts"
import { MOST, smsText } from "../text/smsText.ts"
import { basic, form, type Service, type ServiceKeys } from "./Service.ts"

/** Where Twilio's API is; other services have the same API. */
export const TWILIO = "https://api.twilio.com"

/** Makes a resource of an account at Twilio (twilio.com/docs, "Make API requests", November 2026). */
export const twilioRequest = (
  resource: "Calls" | "Messages",
  fields: Readonly<Record<string, string>>,
  { definition: { account = "", to = "" }, path, token, user }: ServiceKeys,
) => ({
  path: `${path}/2010-04-01/Accounts/${account}/${resource}.json`,
  headers: basic(user || account, token),
  ...form({ To: to, ...fields }),
})

const MEDIUM = { limit: MOST.septets, escape: plain, hasNoLinks: true, form: "brief" } as const

const MOST_OF_NAME = 40

/** A name in at most 40 characters, whose ellipsis every phone has. */
const shortName = (name: string): string => {
  const characters = Array.from(name)
  return characters.length <= MOST_OF_NAME ? name : `${characters.slice(0, MOST_OF_NAME - 3).join("")}...`
}

/** The same without the marks of letters that phones lack. */
const unmarkedName = (name: string): string =>
  shortName(Array.from(name.normalize("NFC"), withoutMarks).join(""))

const written = (
  message: Exclude<ChatMessage, { readonly about: "test" }>,
  nameOf: NonNullable<TextMedium["nameOf"]>,
): string => {
  const why = sharedWhy(message.notifications, "brief")
  if (message.about === "digest") {
    const { firing } = readerTexts(message.notifications[0] ?? {}, "brief").words.notification
    const limit = septetsOf(firing.other) === undefined ? MOST.units : MOST.septets
    const medium = { ...MEDIUM, limit, nameOf, hasWhy: true } as const
    return smsText(digestText(message.notifications, medium), undefined, { why })
  }
  const [notification] = message.notifications
  const { acknowledge, incident } = notification.links ?? {}
  const acknowledged = acknowledgedIn(notification, "brief")
  return smsText(lineOf(notification, { nameOf, form: "brief" }), acknowledge?.url ?? incident, {
    why,
    acknowledged,
  })
}

/** Names lose their marks only where the whole message is then of letters that take the least room. */
const textOf = (message: ChatMessage): string => {
  if (message.about === "test") return smsText(testText(message, "brief"), undefined)
  const text = written(message, shortName)
  if (septetsOf(text) !== undefined) return text
  const unmarked = written(message, unmarkedName)
  return septetsOf(unmarked) === undefined ? text : unmarked
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
