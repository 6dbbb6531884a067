import type { Listing } from "../../kernel/model/ListPlan.ts"
import { planChecks, planHistory } from "./checkLists.ts"
import { Struct } from "effect"
import type { CheckState, StoredCheckResultEvent } from "@tocsin/contract/v1/Resources"
import type {
  AgentId,
  EventId,
  IncidentId,
  IncidentKey,
  RegistrationId,
} from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import type { CheckResultEvent } from "@tocsin/contract/v1/Requests"
import type { CheckStatus } from "@tocsin/contract/formats/Status"
import type { Transition } from "@tocsin/contract/formats/TransitionTable"
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
} from "../../kernel/model/TableShape.ts"
import { CHECK_COLUMNS, OF_CHECK } from "../../kernel/model/CheckRef.ts"

export const check_state = storedTable({
  name: "check_state",
  key: OF_CHECK.key,
  list: { name: "checks", orders: { agent_id: ["agent_id", "check_id"] }, plan: planChecks },
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
    /** The open incident in which it is late, while it is (docs/rules.md#expectations). */
    overdue_incident_id: orUndefined(text<IncidentId>()),
    /** When it was withdrawn, while it is (docs/rules.md#withdrawn-checks). */
    withdrawn_at: orUndefined(instant),
    /** Whether its agent is a place that reports a watch by it: it opens no incident (docs/rules.md#places). */
    is_of_place: orUndefined(boolean),
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

const history = {
  name: "history",
  orders: { stored: ["seq"] },
  plan: planHistory,
} as const satisfies Listing<keyof StoredHistoryRecord>

export const check_event: TableShape<StoredHistoryRecord, typeof history> = {
  name: "check_event",
  key: ["seq"],
  list: history,
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

export const toCheckState = (record: CheckRecord): CheckState => ({
  ...Struct.pick(record, ["agent_id", "check_id", "status", "last_observed_at", "exit_code"]),
  ...(record.incident_key !== undefined && { incident_key: record.incident_key }),
  ...(record.summary !== undefined && { summary: record.summary }),
})

export const toStoredEvent = (record: StoredHistoryRecord): StoredCheckResultEvent => {
  const { seq: _seq, registration_id: _registration_id, ...event } = record
  return event
}

type Flat = Readonly<Record<string, string | boolean>>

/** Whether an agent reports the same labels, or features. Every heartbeat asks: plain loops make no lists of names. */
export const isSameReport = (before: Flat | undefined, after: Flat | undefined): boolean => {
  if (before === after) return true
  if (before === undefined || after === undefined) return false
  let more = 0
  for (const name in before) {
    if (!Object.hasOwn(before, name)) continue
    if (before[name] !== after[name]) return false
    more -= 1
  }
  for (const name in after) if (Object.hasOwn(after, name)) more += 1
  return more === 0
}
