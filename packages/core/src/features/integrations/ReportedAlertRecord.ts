import { stateTable } from "@tocsin/contract/formats/TransitionTable"
import type { CheckRecord } from "../../heart/model/CheckRecord.ts"
import { CHECK_COLUMNS, OF_CHECK } from "../../kernel/model/CheckRef.ts"
import { instant, keyedTable, long, orUndefined, type RecordOf, text } from "../../kernel/model/TableShape.ts"

/**
 * A check that is an alert of an integration, as its sender last reported it. While its source vouches for it, the
 * check has an expectation, which is late while the alert is as last heard.
 */
export const reported_alert = keyedTable({
  name: "reported_alert",
  ...OF_CHECK,
  columns: {
    ...CHECK_COLUMNS,
    /** The server that last sent it; empty if it states none. */
    source: text(),
    /** For how long its source vouches for it; absent if it does not fire, or if none repeats it. */
    lease_millis: orUndefined(long),
    next_evaluation_at: instant,
    /** Its page at the source, for messages; absent if that is no plain address. */
    address: orUndefined(text()),
  },
})
export type ReportedAlertRecord = RecordOf<typeof reported_alert>

/** The output of an alert that resolved because its source no longer sends it. */
export const NO_LONGER_SENT = "no longer sent by the source"

const BY_OPTION = ", so it ended by lapse_after"

/** The output of an alert that ended because nothing more was said of it for so long. */
export const noNewsFor = (lapse_after: string): string => `no news of it for ${lapse_after}${BY_OPTION}`

/**
 * Transitions of an alert that an integration takes (docs/rules.md#alerts). Its check has its status;
 * silence of its source never resolves it.
 */
export const ReportedAlertTransitions = stateTable({
  absent: {
    "fired -> firing": "a sender states that it fires | its check is created, and joins an incident",
    "resolved -> absent": "a sender states that it has ended | ignored",
  },
  firing: {
    "fired -> firing": "a sender repeats it | its check is expected again",
    "resolved -> resolved":
      "a sender states that it has ended, or an operator resolves it | its check is ok, and leaves its incident",
    "source_fell_silent -> as_last_heard":
      "it is due again, and its source was not heard for `resend` | its check keeps its status, and joins the incident of late checks",
    "not_sent -> lapsed":
      "its lease ended a minute ago, and its source was heard in each of three periods of `resend` since | its check is ok, and leaves its incident",
    "no_news -> lapsed":
      "nothing repeats it, and no report of it came for `lapse_after` | its check is ok, and leaves its incident",
    "removed -> absent": "its check or its agent is deleted | as for every check",
  },
  as_last_heard: {
    "fired -> firing": "a sender repeats it | its check leaves the incident of late checks",
    "resolved -> resolved":
      "a sender states that it has ended, or an operator resolves it | its check is ok, and leaves both incidents",
    "not_sent -> lapsed":
      "its source is back, and was heard in each of three periods of `resend` | its check is ok, and leaves both incidents",
    "removed -> absent": "its check or its agent is deleted | as for every check",
  },
  lapsed: {
    "fired -> firing": "a sender states that it fires | its check joins an incident",
    "resolved -> resolved": "a sender states that it has ended | its check shows that output",
    "forgotten -> absent": "no report for `forget_after` | its check is deleted; its incidents stay",
    "removed -> absent": "its check or its agent is deleted | as for every check",
  },
  resolved: {
    "fired -> firing": "a sender states that it fires | its check joins an incident",
    "resolved -> resolved": "a sender repeats it | nothing else changes",
    "forgotten -> absent": "no report for `forget_after` | its check is deleted; its incidents stay",
    "removed -> absent": "its check or its agent is deleted | as for every check",
  },
})

export const alertStateOf = (
  check: Pick<CheckRecord, "overdue_incident_id" | "status" | "summary"> | undefined,
): "absent" | "firing" | "as_last_heard" | "lapsed" | "resolved" => {
  if (check === undefined) return "absent"
  const { summary = "" } = check
  const hasLapsed = summary === NO_LONGER_SENT || summary.endsWith(BY_OPTION)
  if (check.status === "ok") return hasLapsed ? "lapsed" : "resolved"
  return check.overdue_incident_id === undefined ? "firing" : "as_last_heard"
}
