import type { AgentId, KeyHash } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { IntegrationOptions, ShownKind } from "@tocsin/contract/Integrations"
import { isValidSecret } from "./replacedSecret.ts"
import { array, instant, keyedTable, object, orUndefined, type RecordOf, text } from "./TableShape.ts"
import { stateTable } from "@tocsin/contract/TransitionTable"
import type { CheckRecord } from "./CheckRecord.ts"

/** A server that sends alerts; times are in microseconds since 1970. */
export interface AlertSource {
  /** Its origin and path prefix; empty for alerts that state none. */
  readonly source: string
  /** When it was first heard of those times that no silence of `resend` separates. */
  readonly since: number
  readonly heard_at: number
}

/**
 * One integration as stored; the agent of its name has its checks (docs/rules.md#integrations). The lock of that
 * agent guards the row, except that one creates both.
 */
export const integration = keyedTable({
  name: "integration",
  key: ["name"],
  locks: "rows",
  group: [],
  columns: {
    name: text<AgentId>(),
    kind: text<ShownKind>(),
    options: object<IntegrationOptions>(),
    /** The hash of its key; absent while it is closed. */
    key_hash: orUndefined(text<KeyHash>()),
    /** The key before the last rotation, while it is still valid. */
    former_key_hash: orUndefined(text<KeyHash>()),
    former_valid_until: orUndefined(instant),
    created_at: instant,
    created_by: text(),
    /** Recorded every 15 s at most, as is the refusal. */
    last_request_at: orUndefined(instant),
    last_refused_at: orUndefined(instant),
    last_refusal: orUndefined(text()),
    /** The sources of its alerts, the last heard first. */
    sources: array<AlertSource>(),
  },
})
export type IntegrationRecord = RecordOf<typeof integration>

export const isValidKey = (row: IntegrationRecord, hash: KeyHash, now: Instant): boolean => {
  const { former_key_hash: former, former_valid_until, key_hash: present } = row
  return isValidSecret(hash, now, { present, former, former_valid_until })
}

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
    "resolved -> resolved": "a sender states that it has ended | its check is ok, and leaves its incident",
    "source_fell_silent -> as_last_heard":
      "it is due again, and its source was not heard for `resend` | its check keeps its status, and joins the incident of overdue checks",
    "not_sent -> lapsed":
      "its lease ended a minute ago, and its source was heard in each of three periods of `resend` since | its check is ok, and leaves its incident",
    "removed -> absent": "its check or its agent is deleted | as for every check",
  },
  as_last_heard: {
    "fired -> firing": "a sender repeats it | its check leaves the incident of overdue checks",
    "resolved -> resolved": "a sender states that it has ended | its check is ok, and leaves both incidents",
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
