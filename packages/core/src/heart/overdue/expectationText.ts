import { Duration } from "effect"
import { durationText } from "@tocsin/contract/formats/durationMillis"
import * as Instant from "@tocsin/contract/formats/Instant"
import { zonedText } from "@tocsin/contract/formats/zonedText"
import type { ExpectationRecord, Terms } from "../model/ExpectationRecord.ts"
import { type Due, dueOf } from "./dueTime.ts"

/** Says of a late check what it has missed, as headlines do after `late: `, by the clock of a time zone. */
export const lateText = (
  reportedAt: Instant.Instant | undefined,
  { due, longest }: Due,
  tz?: string,
): string => {
  if (longest !== undefined) {
    const since = zonedText(Instant.minus(due, longest), tz)
    return `began ${since} and has not ended within ${durationText(Duration.toMillis(longest))}`
  }
  const did = reportedAt === undefined ? "never reported" : `nothing since ${zonedText(reportedAt, tz)}`
  return `${did}, expected by ${zonedText(due, tz)}`
}

/** Says how often a check must report, and how late it may be. */
export const termsText = ({ after_millis, cron, every_millis, grace_millis = 0, tz }: Terms): string => {
  if (cron !== undefined)
    return `It must report at ${cron} (${tz}), and is late ${durationText(grace_millis)} after each time.`
  const often = every_millis === undefined ? "" : ` every ${durationText(every_millis)}`
  return `It must report${often}, and is late after ${durationText(after_millis)} without a report.`
}

/** Says of a check what it is to meet, or has missed. */
export const expectationText = (
  expectation: ExpectationRecord,
  reportedAt: Instant.Instant | undefined,
  now: Instant.Instant,
): string => {
  const next = dueOf(expectation, reportedAt)
  const { due, longest } = next
  if (expectation.incident_id !== undefined || due <= now)
    return `It is late: ${lateText(reportedAt, next)}${longest === undefined ? "" : `, expected by ${Instant.momentText(due)}`}.`
  const until = Instant.momentText(due)
  return longest === undefined
    ? `It ${reportedAt === undefined ? "has not reported yet, and " : ""}is due by ${until}.`
    : `It began ${Instant.momentText(Instant.minus(due, longest))}, and is to end by ${until}.`
}
