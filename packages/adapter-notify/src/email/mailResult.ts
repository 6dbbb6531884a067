import type { SettledRecipient } from "@tocsin/core/heart/model/OutboxRecord"
import type { TestReceipt } from "@tocsin/core/heart/notifications/Notifiers"
import { type FailedResult, resultOfFailure } from "../http/receipts.ts"
import { type Handed, isTooMany, UNADDRESSABLE } from "./handOver.ts"
import { answered, codesOf, faultWords, HIDDEN_LOGIN, type MailSettings } from "./mailWords.ts"
import type { MailAnswer } from "./mailServer.ts"

/** A login that fails may work again once the settings follow it: no mail is dropped for it. */
const isOfLogin = ({ command, enhanced, status }: MailAnswer): boolean =>
  command === "AUTH" ||
  command === "STARTTLS" ||
  [530, 534, 535, 538].includes(status) ||
  /^5\.7\.(?:8|9|11)$/.test(enhanced ?? "")

const MOST_NAMES = 10

const namesOf = (addresses: ReadonlyArray<string>): string => {
  const more = addresses.length - MOST_NAMES
  return `${addresses.slice(0, MOST_NAMES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`
}

const FOREIGN = codesOf(UNADDRESSABLE)

/** The addresses refused for good, in words; empty if there are none. */
const refusalWords = (refused: ReadonlyArray<SettledRecipient>): ReadonlyArray<string> => {
  const foreign = refused.filter((one) => one.refused === FOREIGN).map(({ address }) => address)
  const others = refused
    .filter((one) => one.refused !== FOREIGN)
    .map((one) => `${one.address} (${one.refused ?? ""})`)
  return [
    ...(others.length > 0 ? [`The mail server refused ${namesOf(others)}.`] : []),
    ...(foreign.length > 0 ? [`The mail server cannot address ${namesOf(foreign)}: it lacks SMTPUTF8.`] : []),
  ]
}

/** Whether no retry changes an answer. */
const isFinal = (answer: MailAnswer): boolean =>
  answer.status >= 500 && !isTooMany(answer) && !isOfLogin(answer)

/** Sorts the recipients: those that no retry repeats, and the others with their answers. */
const sorted = ({ standings }: Handed, before: ReadonlyArray<SettledRecipient>, isLoginHidden: boolean) => {
  const recipients = [...before]
  const waiting = new Map<string, MailAnswer | undefined>()
  for (const [address, standing] of standings) {
    if (standing === "has it") recipients.push({ address })
    else if (standing !== undefined && isFinal(standing) && !isLoginHidden)
      recipients.push({ address, refused: codesOf(standing) })
    else waiting.set(address, standing)
  }
  return { recipients, waiting }
}

/** Why recipients wait, and whether the server would answer so for ever. */
const causeOf = (
  { fault, offer }: Handed,
  answer: MailAnswer | undefined,
  settings: MailSettings,
  isLoginHidden: boolean,
): FailedResult => {
  if (answer !== undefined)
    return {
      outcome: "deferred",
      error: isLoginHidden && answer.status >= 500 ? HIDDEN_LOGIN : answered(answer),
    }
  const error = fault && faultWords(fault, settings, offer)
  if (error === undefined) return resultOfFailure(fault?.code)
  return { outcome: fault?.answer && isFinal(fault.answer) ? "refused" : "deferred", error }
}

/** The result of an attempt, after those that settled recipients before (docs/rules.md#mails). */
export const resultOfMail = (
  handed: Handed,
  before: ReadonlyArray<SettledRecipient>,
  settings: MailSettings,
): TestReceipt => {
  const isLoginHidden = settings.hasLogin && !handed.offer.hasLogin
  const { recipients, waiting } = sorted(handed, before, isLoginHidden)
  const refused = recipients.filter((one) => one.refused !== undefined)
  const isReached = refused.length < recipients.length
  const refusals = refusalWords(refused)
  if (waiting.size === 0) {
    const error = refusals.join(" ")
    if (isReached) return { status: 250, result: { outcome: "delivered", ...(error !== "" && { error }) } }
    const answers = Array.from(handed.standings.values()).filter((one) => typeof one === "object")
    const answer = answers.find((one) => one !== UNADDRESSABLE)
    return {
      status: (answer ?? UNADDRESSABLE).status,
      result: { outcome: "refused", error: answer ? answered(answer) : error },
    }
  }
  const [answer] = Array.from(waiting.values()).filter((one) => one !== undefined)
  const cause = causeOf(handed, answer, settings, isLoginHidden)
  const status = (answer ?? handed.fault?.answer)?.status
  if (recipients.length === 0 && cause.outcome === "refused") return { status, result: cause }
  const missing = Array.from(waiting, ([address, one]) => (one ? `${address} (${codesOf(one)})` : address))
  const parts = [...(isReached ? [`No mail yet for ${namesOf(missing)}.`] : []), cause.error, ...refusals]
  const settled = recipients.length > 0 && { recipients }
  return { status, result: { outcome: "deferred", error: parts.join(" "), ...settled } }
}
