import { escapeHtml } from "@tocsin/contract/formats/escapeHtml"
import { type Language, voiceOf } from "@tocsin/contract/languages/Language"
import type { AnyWords } from "@tocsin/contract/languages/Languages"
import { fill } from "@tocsin/contract/languages/Words"
import type { DeliveryAttempt } from "../../heart/notifications/Notifiers.ts"
import { MOST_WITH_KEY } from "../../heart/notifications/claimOutbox.ts"
import { cutText, plain } from "../../heart/notifications/cutText.ts"
import { digestHead, worstFirst } from "../../heart/notifications/digestText.ts"
import {
  acknowledgedIn,
  endedIn,
  endingIn,
  headlineIn,
  isOver,
  notOkIn,
  testText,
  whereText,
} from "../../heart/notifications/incidentText.ts"
import { type Reader, readerTexts, saidTimes } from "../../heart/notifications/readerTexts.ts"
import { sharedWhy } from "../../heart/notifications/whyText.ts"

/** Incidents that a call about several says, which one can keep in mind. */
const MOST_SAID = 3
const MOST_OF_KEY = { limit: 100, escape: plain }
const MOST_OF_HEADLINE = { limit: 160, escape: plain }

/** A voice pauses at the end of a sentence: a text with the mark that ends those of its language. */
const sentence = (text: string, { press }: AnyWords["call"]): string =>
  /^$|[.!?…。！？]$/.test(text) ? text : `${text}${press.slice(-1)}`

const stateOf = (notification: DeliveryAttempt): string => {
  const { event_type, severity } = notification
  const { call, notification: words } = readerTexts(notification).words
  if (event_type === "resolved") return call.resolved
  const status = words.statuses[severity]
  if (!isOver(notification)) return status
  return fill(endedIn(notification) === undefined ? call.over : call.closed, { status })
}

/** The name of an incident as a voice says it. */
export const spokenName = ({ incident, title }: DeliveryAttempt): string =>
  cutText(whereText(incident, title), MOST_OF_KEY)

/** How a line is said: a name is no longer than that of the incident. */
const SPOKEN = { form: "spoken", nameOf: (name: string) => cutText(name, MOST_OF_KEY) } as const

/** Of a late check, the headline has times of ours. */
const spokenHeadline = (notification: DeliveryAttempt): string => {
  const { due_at, tz } = notification
  const line = headlineIn(notification)
  return cutText(line.startsWith("late: ") ? saidTimes(line, due_at, tz) : line, MOST_OF_HEADLINE)
}

/** Sentences about an incident behind its state. */
const aboutOne = (notification: DeliveryAttempt): ReadonlyArray<string> => [
  spokenName(notification),
  endingIn(notification, SPOKEN) ?? spokenHeadline(notification),
  endedIn(notification, SPOKEN) ?? "",
  notOkIn(notification, SPOKEN) ?? acknowledgedIn(notification, "spoken") ?? "",
]

/** A message as a voice says it: a test if it is about nothing (docs/rules.md#phones). */
export const spokenText = (notifications: ReadonlyArray<DeliveryAttempt>, reader: Reader = {}): string => {
  const [worst] = worstFirst(notifications)
  if (worst === undefined) return testText(reader)
  const { call } = readerTexts(worst).words
  const sentences = (...texts: ReadonlyArray<string>): string =>
    texts
      .filter((text) => text !== "")
      .map((text) => sentence(text, call))
      .join(" ")
      .trim()
  const why = sharedWhy(notifications, "spoken")
  const first = why === undefined ? "Tocsin:" : `Tocsin: ${sentence(why, call)}`
  if (notifications.length === 1) return `${first} ${sentences(stateOf(worst), ...aboutOne(worst))}`
  const { count, kinds, over } = digestHead(notifications, "spoken")
  const shown = worstFirst(notifications).slice(0, notifications.length > MOST_WITH_KEY ? 1 : MOST_SAID)
  // All of them are resolved, and none is worse than another.
  if (worst.event_type === "resolved")
    return `${first} ${sentences(count, ...kinds, ...shown.flatMap(aboutOne))}`
  const said = shown.map((one) => sentences(stateOf(one), ...aboutOne(one))).join(" ")
  const isAll = shown.length === notifications.length
  return `${first} ${sentences(count, ...over)} ${isAll ? said : fill(call.worst, { said })}`
}

/** Who acknowledged, in a sentence: by a link, the receiver of a message. */
export const nameOf = (by: string, { message_to }: AnyWords["link"]): string =>
  by.startsWith("link:") ? fill(message_to, { name: by.slice("link:".length) }) : by

/** Characters that XML 1.0 does not have. */
const NO_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu
const xml = (text: string): string => escapeHtml(text.replaceAll(NO_XML, " "))

/** More is refused. */
const MOST_CHARACTERS = 4_000

/** A text for a call. */
export interface Spoken {
  readonly text: string
  /** The language of the words around it; English unless given. */
  readonly lang?: Language | undefined
  /** The voice; that of the language unless given. */
  readonly language?: string | undefined
  /** The address that a pressed key is posted to: of these instructions if it is empty. Without it, no key does anything. */
  readonly action?: string | undefined
  /** How many incidents the key acknowledges; one unless given. */
  readonly count?: number
  /** Whether it is said twice, after a second of silence: one takes the phone to the ear first. */
  readonly isOpening?: boolean
}

/** The instructions for a call, in TwiML (twilio.com/docs/voice/twiml, November 2026). */
export const twiml = (spoken: Spoken): string => {
  const { action, count = 1, isOpening = false, lang = "en", language = voiceOf(lang), text } = spoken
  const { counted, words } = readerTexts({ lang })
  const press = count > 1 ? counted(words.call.press_all, count) : words.call.press
  const said = action === undefined ? text : `${sentence(text, words.call)} ${press}`
  const say = `<Say language="${language}">${xml(said)}</Say>`
  const pause = '<Pause length="1"/>'
  const address = action === undefined || action === "" ? "" : ` action="${xml(action)}"`
  const gathering = action === undefined ? "" : `<Gather numDigits="1" timeout="10" method="POST"${address}>`
  const instructions = (calls: string): string =>
    `<Response>${gathering}${calls}${gathering && "</Gather>"}</Response>`
  if (!isOpening) return instructions(say)
  const twice = instructions(`${pause}${say}${pause}${say}`)
  return twice.length <= MOST_CHARACTERS ? twice : instructions(`${pause}${say}`)
}
