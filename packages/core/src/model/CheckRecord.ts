import type {
  AgentId,
  CheckId,
  EventId,
  IncidentId,
  IncidentKey,
  RegistrationId,
} from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import type { CheckResultEvent } from "@tocsin/contract/Requests"
import type { CheckStatus } from "@tocsin/contract/Status"
import type { Transition } from "@tocsin/contract/TransitionTable"
import {
  boolean,
  instant,
  long,
  moving,
  orAbsent,
  orUndefined,
  type RecordOf,
  storedTable,
  type TableShape,
  text,
  uuid,
  uuids,
} from "./TableShape.ts"

export type CheckName = Pick<CheckRecord, "agent_id" | "check_id">

/** A check of one registration: a new registration never sees checks of a deleted agent. */
export type CheckRef = Pick<CheckRecord, "agent_id" | "check_id" | "registration_id">

/** Finds rows by their check, whatever the order in which a storage gave them. */
export const findByCheck = <Row extends CheckRef>(
  rows: ReadonlyArray<Row>,
): ((check: CheckRef) => Row | undefined) => {
  const keyOf = ({ check_id, registration_id }: CheckRef) => `${registration_id}/${check_id}`
  const found = new Map(rows.map((row) => [keyOf(row), row]))
  return (check) => found.get(keyOf(check))
}

export const checksOf = (
  { agent_id, registration_id }: Omit<CheckRef, "check_id">,
  checkIds: ReadonlyArray<CheckId>,
): ReadonlyArray<CheckRef> => checkIds.map((check_id) => ({ agent_id, registration_id, check_id }))

/** How the rows that a check may have beside its own are found: `keyedTable({ ...OF_CHECK, … })`. */
export const OF_CHECK = {
  key: ["agent_id", "check_id", "registration_id"],
  locks: "guarded",
  group: ["agent_id", "registration_id"],
} as const

export const CHECK_COLUMNS = {
  agent_id: text<AgentId>(),
  registration_id: uuid<RegistrationId>(),
  check_id: text<CheckId>(),
}

export const check_state = storedTable({
  name: "check_state",
  key: OF_CHECK.key,
  columns: {
    ...CHECK_COLUMNS,
    status: text<CheckStatus>(),
    exit_code: long,
    last_observed_at: moving(instant),
    /**
     * When the last applied result arrived. Minus `last_observed_at`, it is the skew of the agent's
     * clock (docs/rules.md#clocks-in-the-future).
     */
    received_at: moving(instant),
    incident_key: orUndefined(text<IncidentKey>()),
    /** The latest output, if the latest result had one. */
    summary: moving(orUndefined(text())),
    /** IDs of the results seen at `last_observed_at`, at most `SEEN_EVENT_IDS_KEPT`. */
    seen_event_ids: moving(uuids<EventId>()),
    incident_id: orUndefined(text<IncidentId>()),
    /** The open incident in which it is overdue, while it is (docs/rules.md#expectations). */
    overdue_incident_id: orUndefined(text<IncidentId>()),
    /**
     * A digest of the labels and terms that the last report of an integration gave, while its
     * expectation follows it: an equal report need not read that.
     */
    declaration: orUndefined(text()),
  },
})
export type CheckRecord = RecordOf<typeof check_state>

/**
 * A result that changed (status, exit_code): one row of a check's history. The storage numbers rows
 * (`seq`) in the order in which it stores them, within a batch in array order.
 */
export interface HistoryRecord extends CheckResultEvent {
  readonly agent_id: AgentId
  readonly registration_id: RegistrationId
  readonly received_at: Instant
}

/** `changed` is stored and counts as accepted, the others as deduplicated (docs/rules.md#events). */
export type EventOutcome = "changed" | "unchanged" | "late" | "known_event"

/** A refused batch changes nothing (docs/rules.md#events, docs/rules.md#agent-keys). */
export type BatchOutcome =
  | { readonly outcome: "applied"; readonly events: ReadonlyArray<EventOutcome> }
  | { readonly outcome: "agent_blocked" | "agent_not_accepted" }

/** The effect of a check's new status on its incident (docs/rules.md#incidents). */
export type Membership = "none" | "joins" | "worsens" | "improves" | "leaves"

/** A check's status before and after a stored change: equal if only the exit code differs. */
export interface CheckTransition extends Transition {
  readonly from: CheckStatus | "absent"
  readonly trigger: `reported_${CheckStatus}`
  readonly to: CheckStatus
  readonly membership: Membership
}

const MOVES = "with another incident key, the check leaves its incident and joins that key's instead"

const EFFECTS: Record<Membership, string> = {
  none: "a history row is stored; no membership changes; the incident's summary may",
  joins: "a history row is stored; the check joins the incident of its key, which opens if it is not open",
  worsens: `a history row is stored; the incident's severity is raised to the check's, if that is higher; ${MOVES}`,
  improves: `a history row is stored; the incident's severity is that of its worst member; ${MOVES}`,
  leaves: "a history row is stored; the check leaves its incident, which resolves when no member is left",
}

const CONDITION = "(status, exit_code) differs, the event is not late and its event_id is not known"

/** The effect of each status after another one. Severity: critical > unknown > warning. */
const MEMBERSHIPS: Record<CheckTransition["from"], Record<CheckStatus, Membership>> = {
  absent: { ok: "none", warning: "joins", unknown: "joins", critical: "joins" },
  ok: { ok: "none", warning: "joins", unknown: "joins", critical: "joins" },
  warning: { ok: "leaves", warning: "none", unknown: "worsens", critical: "worsens" },
  unknown: { ok: "leaves", warning: "improves", unknown: "none", critical: "worsens" },
  critical: { ok: "leaves", warning: "improves", unknown: "improves", critical: "none" },
}

const transitionsFrom = (from: CheckTransition["from"]) => {
  const row = (to: CheckStatus): CheckTransition => {
    const membership = MEMBERSHIPS[from][to]
    const effects = EFFECTS[membership]
    return { from, trigger: `reported_${to}`, condition: CONDITION, to, membership, effects }
  }
  return { ok: row("ok"), warning: row("warning"), unknown: row("unknown"), critical: row("critical") }
}

const TRANSITIONS = {
  absent: transitionsFrom("absent"),
  ok: transitionsFrom("ok"),
  warning: transitionsFrom("warning"),
  unknown: transitionsFrom("unknown"),
  critical: transitionsFrom("critical"),
}

export const CheckTransitions = Object.values(TRANSITIONS).flatMap((rows) => Object.values(rows))

export const checkTransition = (from: CheckStatus | "absent", to: CheckStatus): CheckTransition =>
  TRANSITIONS[from][to]

/** A history row with the number that its storage gave it. */
export interface StoredHistoryRecord extends HistoryRecord {
  readonly seq: number
}

export const check_event: TableShape<StoredHistoryRecord> = {
  name: "check_event",
  key: ["seq"],
  columns: {
    seq: long,
    agent_id: text(),
    registration_id: uuid(),
    event_id: uuid(),
    check_id: text(),
    observed_at: instant,
    received_at: instant,
    status: text(),
    exit_code: long,
    duration_ms: long,
    output: orAbsent(text()),
    output_truncated: boolean,
    notifications_enabled: boolean,
    incident_key: orAbsent(text()),
  },
  numbered: "seq",
  kept: ["is_kept"],
}
