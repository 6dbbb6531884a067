import type { NotifierName } from "@tocsin/contract/formats/Status"
import {
  array,
  instant,
  integer,
  keyedTable,
  orUndefined,
  type RecordOf,
  text,
} from "../../kernel/model/TableShape.ts"
import type { SettledRecipient } from "../../heart/model/OutboxRecord.ts"

/** The report of a month for a receiver, from before it is due (docs/rules.md#monthly-reports). */
export const monthly_report = keyedTable({
  name: "monthly_report",
  key: ["name"],
  locks: "rows",
  expiry: {
    rule: "monthly_reports",
    from: "due_at",
    after: "incidents",
    subject: "a monthly report",
    expires: "it was due",
  },
  columns: {
    /** See {@link reportName}. */
    name: text(),
    /** The same for each attempt: mail programs show one message. */
    id: text(),
    state: text<"waiting" | "sent" | "failed">(),
    due_at: instant,
    attempts: integer,
    /** While an attempt is under way, when another server makes one; absent before the first and after the last. */
    next_attempt_at: orUndefined(instant),
    /** The recipients that no retry repeats. */
    recipients: orUndefined(array<SettledRecipient>()),
    last_error: orUndefined(text()),
  },
})
export type MonthlyReportRecord = RecordOf<typeof monthly_report>

/** The receiver of a report, and the month that it is about: `office 2026-11`. */
export const reportName = ({
  month,
  receiver,
}: {
  readonly receiver: NotifierName
  readonly month: string
}): string => `${receiver} ${month}`
