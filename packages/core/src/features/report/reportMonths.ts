import * as Instant from "@tocsin/contract/formats/Instant"
import { zonedText } from "@tocsin/contract/formats/zonedText"
import { Result } from "effect"
import type { Span } from "../../heart/availability/availability.ts"
import { latestUntil, nextAfter, parseSchedule } from "../../heart/policy/Schedule.ts"

/** A month that a report is about. */
export interface ReportMonth extends Span {
  /** Such as `2026-11`. */
  readonly month: string
  readonly due_at: Instant.Instant
}

/** The schedule of a zone of a document that was read. */
const scheduleOf = (cron: string, tz: string) => Result.getOrThrow(parseSchedule({ cron, tz }))

const dueBy = (tz: string, due_at: Instant.Instant): ReportMonth => {
  const begins = scheduleOf("0 0 1 * *", tz)
  const to = latestUntil(begins, due_at)
  const from = latestUntil(begins, Instant.fromMicros(to - 1n))
  return { month: zonedText(from, tz).slice(0, "2026-11".length), due_at, from, to }
}

/** The month whose report was due last by the clock of a zone, and the one whose report is next (docs/rules.md#monthly-reports). */
export const monthsAround = (
  tz: string,
  now: Instant.Instant,
): { readonly last: ReportMonth; readonly next: ReportMonth } => {
  const due = scheduleOf("0 8 1 * *", tz)
  return { last: dueBy(tz, latestUntil(due, now)), next: dueBy(tz, nextAfter(due, now)) }
}
