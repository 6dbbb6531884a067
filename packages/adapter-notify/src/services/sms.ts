import { plain, type TextMedium } from "@tocsin/core/heart/notifications/cutText"
import { digestText } from "@tocsin/core/heart/notifications/digestText"
import { acknowledgedIn, notOkIn, subjectOf, testText } from "@tocsin/core/heart/notifications/incidentText"
import { septetsOf, withoutMarks } from "@tocsin/core/heart/notifications/phoneLetters"
import { sharedWhy } from "@tocsin/core/heart/notifications/whyText"
import type { ChatMessage } from "../text/ChatMessage.ts"
import { basic, form, type Service, type ServiceKeys } from "./Service.ts"

/** Three parts of a message of several: 153 septets each, or 67 UTF-16 units. A part ends before what needs two. */
const MOST = { septets: 3 * 153, units: 3 * 67 }

/** The room that a part leaves in a message, counted as the whole is; negative if it is too long. */
const roomBeside = (part: string, whole = part): number =>
  septetsOf(whole) === undefined ? MOST.units - part.length : MOST.septets - (septetsOf(part) ?? part.length)

const ELLIPSIS = "..."
/** Less of a text says too little for a link to be worth its place. */
const SHORTEST = 40

/** The longest beginning of a text that fits with this end, which the whole text does not. */
const cutBefore = (end: string, text: string): string => {
  const characters = Array.from(text)
  let fits = 0
  let tooLong = characters.length
  const cut = (length: number) => characters.slice(0, length).join("") + ELLIPSIS + end
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2)
    if (roomBeside(cut(middle)) >= 0) fits = middle
    else tooLong = middle
  }
  return cut(fits)
}

/** The most of a line that says why a message comes: septets, or UTF-16 units. */
const MOST_OF_WHY = { septets: 40, units: 20 }

/** That line, as the encoding of the whole message allows. */
const whyLine = (why: string, whole: string): string => {
  const most = septetsOf(why + whole) === undefined ? MOST_OF_WHY.units : MOST_OF_WHY.septets
  const lengthOf = (text: string) => (most === MOST_OF_WHY.units ? text.length : (septetsOf(text) ?? 0))
  let shown = why
  while (lengthOf(shown) > most)
    shown = `${Array.from(shown.replace(/\.\.\.$/u, ""))
      .slice(0, -1)
      .join("")}${ELLIPSIS}`
  return `${shown}\n`
}

/** Lines beside the text of a message. */
interface BesideText {
  /** Why it comes. */
  readonly why?: string | undefined
  /** Who acknowledged it, or that its check is not ok, which stands behind the text. */
  readonly state?: string | undefined
}

const behind = (line: string | undefined): string => (line === undefined ? "" : `\n${line}`)

/**
 * A text and a link as one message of bounded length, behind a line that says why it comes. Only the text is cut. A
 * link that would leave too little of it is left out.
 */
export const smsText = (text: string, link: string | undefined, beside: BesideText = {}): string => {
  const { state, why } = beside
  const said = text.replaceAll("…", ELLIPSIS)
  const end = behind(state) + behind(link)
  const whole = why === undefined ? said : `${whyLine(why, said + end)}${said}`
  if (roomBeside(whole + end) >= 0) return whole + end
  const fitted = cutBefore(end, whole)
  return link === undefined || roomBeside(end, fitted) >= SHORTEST ? fitted : smsText(text, undefined, beside)
}

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
  limit: number,
): string => {
  const why = sharedWhy(message.notifications, "brief")
  if (message.about === "digest") {
    const medium = { ...MEDIUM, limit, nameOf, hasWhy: true } as const
    return smsText(digestText(message.notifications, medium), undefined, { why })
  }
  const [notification] = message.notifications
  const { acknowledge, incident } = notification.links ?? {}
  const medium = { nameOf, form: "brief" } as const
  const state = acknowledgedIn(notification, "brief") ?? notOkIn(notification, medium)
  return smsText(subjectOf(notification, medium), acknowledge?.url ?? incident, {
    why,
    state,
  })
}

/** Names lose their marks only where the whole message is then of letters that take the least room. */
const textOf = (message: ChatMessage): string => {
  if (message.about === "test") return smsText(testText(message, "brief"), undefined)
  const texts = [shortName, unmarkedName].map((nameOf) => written(message, nameOf, MOST.septets))
  return texts.find((text) => septetsOf(text) !== undefined) ?? written(message, shortName, MOST.units)
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
