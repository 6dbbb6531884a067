import { stateTable } from "@tocsin/contract/TransitionTable"
import { CHECK_COLUMNS, type CheckRecord, OF_CHECK } from "./CheckRecord.ts"
import { instant, keyedTable, long, orUndefined, type RecordOf, text } from "./TableShape.ts"

/**
 * A check that is an alert of an integration, as its sender last reported it. While its source vouches for it, the
 * check has an expectation, which is overdue while the alert is as last heard.
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
      "it is due again, and its source was not heard for `resend` | its check keeps its status, and joins the incident of overdue checks",
    "not_sent -> lapsed":
      "its lease ended a minute ago, and its source was heard in each of three periods of `resend` since | its check is ok, and leaves its incident",
    "removed -> absent": "its check or its agent is deleted | as for every check",
  },
  as_last_heard: {
    "fired -> firing": "a sender repeats it | its check leaves the incident of overdue checks",
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
  if (check.status === "ok") return check.summary === NO_LONGER_SENT ? "lapsed" : "resolved"
  return check.overdue_incident_id === undefined ? "firing" : "as_last_heard"
}
