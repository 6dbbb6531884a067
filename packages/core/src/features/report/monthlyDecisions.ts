import * as Instant from "@tocsin/contract/formats/Instant"
import { cleanOutput } from "@tocsin/contract/formats/outputText"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { type Duration, Result } from "effect"
import {
  type AttemptResult,
  LONGEST_RETRY,
  mayRetry,
  retryDelay,
} from "../../heart/notifications/recordResults.ts"
import { commandOf, type Decision, load, loadRow } from "../../kernel/unitOfWork/Decision.ts"
import { type MonthlyReportRecord, reportName } from "./MonthlyReportRecord.ts"
import { zonedText } from "@tocsin/contract/formats/zonedText"
import type { Span } from "../../heart/availability/availability.ts"
import { latestUntil, nextAfter, parseSchedule } from "../../heart/policy/Schedule.ts"

/** A month that a report is about. */
interface ReportMonth extends Span {
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

const MISSED = "no server that can use this receiver ran within 24 h: look at tocsin doctor"

/** The act that a row asks for at a moment. */
const stepOf = (row: MonthlyReportRecord, { due_at }: ReportMonth, now: Instant.Instant) => {
  const { attempts, next_attempt_at = now, state } = row
  // A clock that was set back delays nothing.
  const isLater = next_attempt_at > now && next_attempt_at <= Instant.plus(now, LONGEST_RETRY)
  if (state !== "waiting" || isLater) return "none"
  return mayRetry({ attempts, age_starts_at: due_at }, now) ? "attempt" : "fail"
}

/** A report that a server sends. */
export interface TakenReport extends ReportMonth, Pick<MonthlyReportRecord, "id" | "recipients"> {
  /** The number of the attempt, by which its claim is known. */
  readonly attempts: number
}

interface Taking {
  readonly receiver: NotifierName
  /** The zone of its reader. */
  readonly tz: string
  /** For how long no other server takes it. */
  readonly lease: Duration.Duration
  /** Whether this server can send to it. */
  readonly isUsable: boolean
  readonly newId: (now: Instant.Instant) => string
}

/** Whether {@link takeReport} would change a receiver's rows, as they were read. */
export const isReportDue = (
  rows: ReadonlyArray<MonthlyReportRecord>,
  { isUsable, receiver, tz }: Pick<Taking, "isUsable" | "receiver" | "tz">,
  now: Instant.Instant,
): boolean => {
  const { last, next } = monthsAround(tz, now)
  const rowOf = ({ month }: ReportMonth) => rows.find(({ name }) => name === reportName({ receiver, month }))
  const due = rowOf(last)
  const step = due && stepOf(due, last, now)
  return rowOf(next) === undefined || step === "fail" || (step === "attempt" && isUsable)
}

/**
 * Takes the report of a receiver that is due, if there is one. A row of the next month is made before that is due, so that
 * a receiver that was added later gets none for it.
 */
export const takeReport = commandOf(function* (
  unit,
  { isUsable, lease, newId, receiver, tz }: Taking,
): Decision<TakenReport | undefined> {
  const { now } = unit
  const { last, next } = monthsAround(tz, now)
  const nameOf = ({ month }: ReportMonth) => reportName({ receiver, month })
  yield* load(unit, { rows: { monthly_report: [nameOf(last), nameOf(next)] } })
  const table = unit.of("monthly_report")
  if (table.get(nameOf(next)) === undefined)
    table.put({
      name: nameOf(next),
      id: newId(now),
      state: "waiting",
      due_at: next.due_at,
      attempts: 0,
      next_attempt_at: undefined,
      recipients: undefined,
      last_error: undefined,
    })
  const row = table.get(nameOf(last))
  const step = row && stepOf(row, last, now)
  if (row === undefined || step === undefined || step === "none") return undefined
  if (step === "fail") {
    table.put({ ...row, state: "failed", next_attempt_at: undefined, last_error: row.last_error ?? MISSED })
    return undefined
  }
  if (!isUsable) return undefined
  const attempts = row.attempts + 1
  // Another zone of its reader may have moved it.
  const { due_at } = last
  table.put({ ...row, due_at, attempts, next_attempt_at: Instant.plus(now, lease) })
  return { ...last, id: row.id, recipients: row.recipients, attempts }
})

interface Claimed extends Pick<TakenReport, "attempts" | "month"> {
  readonly receiver: NotifierName
}

/** The row of an attempt that still counts: no other server has begun one. */
function* claimedRow(unit: Parameters<typeof loadRow>[0], { attempts, ...named }: Claimed) {
  const row = yield* loadRow(unit, "monthly_report", reportName(named))
  return row?.state === "waiting" && row.attempts === attempts ? row : undefined
}

/** Keeps a report from other servers for longer, while its attempt is under way. */
export const renewReport = commandOf(function* (
  unit,
  claimed: Claimed,
  lease: Duration.Duration,
): Decision<void> {
  const row = yield* claimedRow(unit, claimed)
  if (row === undefined) return
  unit.of("monthly_report").put({ ...row, next_attempt_at: Instant.plus(unit.now, lease) })
})

/** Notes how an attempt at a report ended; a later one follows as for notifications (docs/rules.md#delivery). */
export const recordReport = commandOf(function* (
  unit,
  claimed: Claimed,
  result: AttemptResult,
  random: number,
): Decision<void> {
  const row = yield* claimedRow(unit, claimed)
  if (row === undefined) return
  const table = unit.of("monthly_report")
  const ended = { ...row, next_attempt_at: undefined, recipients: undefined }
  // A receiver that is shadowed gets none: nothing is shown of it.
  if (result.outcome === "shadow") return table.delete(row.name)
  if (result.outcome === "delivered")
    return table.put({ ...ended, state: "sent", last_error: "error" in result ? result.error : undefined })
  if (result.outcome === "released" || result.outcome === "unsent")
    return table.put({ ...row, next_attempt_at: unit.now })
  const last_error = cleanOutput(result.error)
  const recipients = (result.outcome === "deferred" ? result.recipients : undefined) ?? row.recipients
  const retriedAt =
    result.outcome === "refused"
      ? undefined
      : Instant.plus(unit.now, retryDelay(row.attempts, random, result.retryAfterSeconds))
  const { attempts, due_at: age_starts_at } = row
  if (retriedAt === undefined || !mayRetry({ attempts, age_starts_at }, retriedAt)) {
    const isWithSome = recipients?.some(({ refused }) => refused === undefined) === true
    return table.put({ ...ended, state: isWithSome ? "sent" : "failed", last_error })
  }
  table.put({ ...row, recipients, last_error, next_attempt_at: retriedAt })
})
