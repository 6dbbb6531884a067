import { largestUnits } from "@tocsin/contract/formats/durationMillis"
import { escapeHtml } from "@tocsin/contract/formats/escapeHtml"
import type { DeliveryAttempt } from "../../heart/notifications/Notifiers.ts"
import { MOST_WITH_KEY } from "../../heart/notifications/claimOutbox.ts"
import { cutText, plain } from "../../heart/notifications/cutText.ts"
import {
  acknowledgedIn,
  digestTitle,
  endingIn,
  headlineIn,
  isOver,
  testText,
  whereText,
  worstFirst,
} from "../../heart/notifications/incidentText.ts"
import { sharedWhy, spoken, timeText } from "../../heart/notifications/whyText.ts"

/** Incidents that a call about several says, which one can keep in mind. */
const MOST_SAID = 3
const MOST_OF_KEY = { limit: 100, escape: plain }
const MOST_OF_HEADLINE = { limit: 160, escape: plain }

/** A voice pauses at the end of a sentence. */
const sentence = (text: string): string => (/^$|[.!?…]$/.test(text) ? text : `${text}.`)

const stateOf = (notification: DeliveryAttempt): string => {
  const { event_type, severity } = notification
  if (event_type === "resolved") return "resolved"
  return isOver(notification) ? `${severity}, but resolved by now` : severity
}

/** A length in words: `1 hour 30 minutes`. */
export const spokenLength = (seconds: number): string =>
  largestUnits(seconds, 2).map(spoken).join(" ") || "less than a second"

const aboutOne = (notification: DeliveryAttempt): string =>
  [
    stateOf(notification),
    cutText(whereText(notification.incident, notification.title), MOST_OF_KEY),
    endingIn(notification, spokenLength) ?? cutText(headlineIn(notification), MOST_OF_HEADLINE),
    acknowledgedIn(notification, (at) => timeText(at, notification.tz, "spoken")) ?? "",
  ]
    .map(sentence)
    .join(" ")
    .trim()

/** A message as a voice says it: a test if it is about nothing (docs/rules.md#phones). */
export const spokenText = (notifications: ReadonlyArray<DeliveryAttempt>): string => {
  const [worst] = worstFirst(notifications)
  if (worst === undefined) return testText
  const why = sharedWhy(notifications, "spoken")
  const first = why === undefined ? "Tocsin:" : `Tocsin: ${sentence(why)}`
  if (notifications.length === 1) return `${first} ${aboutOne(worst)}`
  const said = worstFirst(notifications).slice(0, notifications.length > MOST_WITH_KEY ? 1 : MOST_SAID)
  return `${first} ${digestTitle(notifications)}. The worst: ${said.map(aboutOne).join(" ")}`
}

/** Characters that XML 1.0 does not have. */
const NO_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu
const xml = (text: string): string => escapeHtml(text.replaceAll(NO_XML, " "))

/** More is refused. */
const MOST_CHARACTERS = 4_000

/** A text for a call. */
export interface Spoken {
  readonly text: string
  readonly language?: string | undefined
  /** The address that a pressed key is posted to: of these instructions if it is empty. Without it, no key does anything. */
  readonly action?: string | undefined
  /** How many incidents the key acknowledges; one unless given. */
  readonly count?: number
  /** Whether it is said twice, after a second of silence: one takes the phone to the ear first. */
  readonly isOpening?: boolean
}

/** The instructions for a call, in TwiML (twilio.com/docs/voice/twiml, November 2026). */
export const twiml = ({ action, count = 1, isOpening = false, language = "en-US", text }: Spoken): string => {
  const all = count > 1 ? ` all ${count}` : ""
  const words = action === undefined ? text : `${sentence(text)} Press 1 to acknowledge${all}.`
  const say = `<Say language="${language}">${xml(words)}</Say>`
  const pause = '<Pause length="1"/>'
  const address = action === undefined || action === "" ? "" : ` action="${xml(action)}"`
  const gathering = action === undefined ? "" : `<Gather numDigits="1" timeout="10" method="POST"${address}>`
  const instructions = (said: string): string =>
    `<Response>${gathering}${said}${gathering && "</Gather>"}</Response>`
  if (!isOpening) return instructions(say)
  const twice = instructions(`${pause}${say}${pause}${say}`)
  return twice.length <= MOST_CHARACTERS ? twice : instructions(`${pause}${say}`)
}
