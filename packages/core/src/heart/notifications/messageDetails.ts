import { String } from "effect"
import { isJobOutput, VISIBLE, withoutPerformance, withoutSequences } from "@tocsin/contract/formats/headline"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { Labels } from "@tocsin/contract/labels/Labels"
import { fill } from "@tocsin/contract/languages/Words"
import { plainLine } from "@tocsin/contract/formats/plainLine"
import { RUNBOOK_URL } from "@tocsin/contract/policy/PolicyDocument"
import type { LastResult } from "../../kernel/model/LastResult.ts"
import { isOfLate } from "../model/IncidentRecord.ts"
import { severityOf } from "../model/MemberRecord.ts"
import type { DeliveryAttempt, MessageDetails } from "./Notifiers.ts"
import type { LoudMember } from "../../kernel/unitOfWork/Search.ts"
import { cutText, plain, type TextMedium } from "./cutText.ts"
import { readerTexts, type ReaderTexts } from "./readerTexts.ts"

const MOST_LABELS = 10
const MOST_LABEL_CHARACTERS = 500
/** The most characters of an output in a message. */
export const MOST_OUTPUT = 1_000

/** Less of it says nothing. */
const SHORTEST_OUTPUT = 16

const MILLIS = 1_000

/** The lines of an output that have words, without sequences of terminals. */
const linesOf = (output: string): ReadonlyArray<string> =>
  withoutSequences(output)
    .split(/[\r\n\u2028\u2029]/u)
    .filter((line) => VISIBLE.test(line))
    .map((line) => plainLine(line))

const labelText = ([name, value]: readonly [string, string]): string => `${name}=${plainLine(value)}`

/** The first labels by name, as far as they fit; the runbook and the title have a line in the message already. */
const shownLabels = (labels: Labels, runbook: DeliveryAttempt["runbook"]): Labels => {
  let left = MOST_LABEL_CHARACTERS
  const shown = Object.entries(labels)
    .filter(([name]) => name !== "title")
    .filter(([name, value]) => name !== "runbook_url" || value !== runbook?.url)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .filter((label) => {
      const length = Array.from(labelText(label)).length
      const fits = length <= left
      if (fits) left -= length
      return fits
    })
  return Object.fromEntries(shown.slice(0, MOST_LABELS))
}

/** Decides what a message says of a check beyond its incident. */
export const decideDetails = (
  { labels = {}, member }: LoudMember,
  { address, changed_at, duration_ms = 0, output = "", status }: LastResult,
  runbook: DeliveryAttempt["runbook"],
): MessageDetails => ({
  check: { agent_id: member.agent_id, check_id: member.check_id },
  severity: member.severity,
  last_status: severityOf(status) === member.severity ? undefined : status,
  labels: shownLabels(labels, runbook),
  output: linesOf(output).join("\n"),
  isJob: isJobOutput(output),
  source: address,
  since: changed_at ?? member.joined_at,
  duration_seconds: duration_ms > 0 ? duration_ms / MILLIS : undefined,
})

/**
 * Since when the check has its severity, unless the message says that already, and how long its result took. The
 * headline of a late check has its times.
 */
export const timesOf = (notification: DeliveryAttempt, details: MessageDetails): string => {
  const { incident } = notification
  const { check, duration_seconds, severity, since } = details
  const { time, took, words } = readerTexts(notification)
  const { labelled, since_and_took, state_since, statuses, took: lasted } = words.notification
  const isSince = Instant.wholeSecond(since) !== Instant.wholeSecond(incident.opened_at)
  const isState = incident.members > 1 || isSince
  const isLate = details.last_status !== undefined || isOfLate(incident)
  if (isLate || (!isState && duration_seconds === undefined)) return ""
  const form = !isState ? lasted : duration_seconds === undefined ? state_since : since_and_took
  const times = fill(form, {
    ...(isState && { status: statuses[severity], time: time(since, "second") }),
    ...(duration_seconds !== undefined && { length: took(duration_seconds) }),
  })
  return incident.members > 1
    ? fill(labelled, { name: `${check.agent_id}/${check.check_id}`, value: times })
    : String.capitalize(times)
}

/**
 * The lines of the output without performance data, and without what the message says already: the line that a job
 * begins with, or one that is the summary.
 */
const newLines = (
  { summary = "" }: DeliveryAttempt,
  { isJob, output }: MessageDetails,
): ReadonlyArray<string> => {
  const lines = output
    .split("\n")
    .map(withoutPerformance)
    .filter((line) => VISIBLE.test(line))
  const [first = "", ...rest] = lines
  if (!isJob) return first === plainLine(summary) ? rest : lines
  return rest.length === 1 && first.endsWith(`: ${rest[0]}`) ? [] : rest
}

/** As many labels as fit, in one line. */
const labelLine = (
  labels: Labels,
  room: number,
  { escape, words }: Pick<TextMedium, "escape"> & Pick<ReaderTexts, "words">,
): string => {
  const texts = Object.entries(labels).map(labelText)
  let line = ""
  do line = texts.length === 0 ? "" : escape(fill(words.notification.labels, { labels: texts.join(", ") }))
  while (line.length > room && texts.pop() !== undefined)
  return line
}

/** No character of a plain address needs an escape, which would break it. */
const sourceLine = (
  source: string | undefined,
  { escape, words }: Pick<TextMedium, "escape"> & Pick<ReaderTexts, "words">,
): string => {
  if (source === undefined) return ""
  const value = RUNBOOK_URL.test(source) ? source : escape(source)
  return fill(words.notification.labelled, { name: escape(words.notification.source), value })
}

/**
 * The lines that the details of a notification add to its text, within so many UTF-16 units. The output comes last, and
 * is quoted. Labels and source each leave half of the room to what follows.
 */
export const detailLines = (
  notification: DeliveryAttempt,
  { escape, mostLines = Infinity, mostOutput: limit = MOST_OUTPUT, quote = "> " }: TextMedium,
  room: number,
): ReadonlyArray<string> => {
  const { details } = notification
  const { words } = readerTexts(notification)
  if (details === undefined) return []
  const lines: Array<string> = []
  let left = room
  const add = (line: string): void => {
    if (line === "" || line.length >= left) return
    lines.push(line)
    left -= line.length + 1
  }
  add(escape(timesOf(notification, details)))
  add(labelLine(details.labels, left / 2, { escape, words }))
  const source = sourceLine(details.source, { escape, words })
  if (source.length <= left / 2) add(source)
  const { isJob: isEnd, last_status } = details
  const said = newLines(notification, details)
  const shown = isEnd ? said.slice(-mostLines) : said.slice(0, mostLines)
  const output = cutText(shown.join("\n"), { limit, escape: plain, isEnd })
  if (output === "") return lines
  if (last_status !== undefined)
    add(escape(fill(words.notification.last_result, { status: words.notification.statuses[last_status] })))
  const quoted = (text: string): string => {
    const parts = text.split("\n")
    return parts.map((line) => quote + escape(line)).join("\n")
  }
  add(left > SHORTEST_OUTPUT ? cutText(output, { limit: left - 1, escape: quoted, isEnd }) : "")
  return lines
}
