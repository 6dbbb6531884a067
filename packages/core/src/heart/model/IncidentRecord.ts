import { planIncidents } from "./incidentList.ts"
import {
  type CheckStatus,
  SEVERITY_RANK,
  type IncidentState,
  type Severity,
} from "@tocsin/contract/formats/Status"
import { NEVER, type SortColumn } from "../../kernel/model/ListPlan.ts"
import { Struct } from "effect"
import type { AgentId, CheckId, IncidentId, IncidentKey } from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import { stateTable } from "@tocsin/contract/formats/TransitionTable"
import { topic } from "../../kernel/topics/Topics.ts"
import {
  boolean,
  instant,
  integer,
  object,
  orUndefined,
  type RecordOf,
  storedTable,
  text,
} from "../../kernel/model/TableShape.ts"

/**
 * The origin of an incident's key: `named` by an event, or `automatic` from agent and check. The
 * two kinds never collide, even with equal text (docs/rules.md#incidents).
 */
export type IncidentKind = "named" | "automatic"

/** How an incident ended, as messages say it (docs/rules.md#details). */
export type Resolution =
  /** Its last check is ok, or its agent made contact; `now` is the headline of the result, if one ended it. */
  | { readonly reason: "recovered"; readonly now?: string | undefined }
  /** A late job reported, and is not ok; `now` is the headline of its report, absent in rows of earlier versions. */
  | { readonly reason: "reported"; readonly status: CheckStatus; readonly now?: string | undefined }
  /** Its check was deleted, with its agent or alone. */
  | { readonly reason: "deleted"; readonly by: string; readonly of?: "agent" }
  | { readonly reason: "resolved"; readonly by: string }
  /** Nothing expects its check any more, or its agent no longer runs it. */
  | { readonly reason: "withdrawn"; readonly of?: "check" }
  | { readonly reason: "moved"; readonly to: IncidentKey }

/** Why a member leaves: by an event, silent or not, or because its check or agent is deleted or its agent blocked. */
export type Leaving =
  | { readonly by: "event"; readonly notify: boolean; readonly resolution: Resolution }
  | { readonly by: "agent_gone"; readonly resolution: Resolution }

const INCIDENTS = topic("incidents")

// Columns that databases generate. Ranks: open above resolved, critical above unknown above warning.
const resolvedOrder: SortColumn<{ readonly resolved_at: Instant | undefined }> = {
  name: "resolved_order",
  type: "bigint",
  of: ({ resolved_at }) => resolved_at ?? NEVER,
}
const severityRank: SortColumn<{ readonly severity: Severity }> = {
  name: "severity_rank",
  type: "number",
  of: ({ severity }) => SEVERITY_RANK[severity],
}
const stateRank: SortColumn<{ readonly state: IncidentState }> = {
  name: "state_rank",
  type: "number",
  of: ({ state }) => (state === "open" ? 1 : 0),
}

/** Counts its members by status, so that severity is known without loading them. */
export const incident = storedTable({
  name: "incident",
  key: ["id"],
  topicsOf: () => INCIDENTS,
  list: {
    name: "incidents",
    orders: {
      status: [stateRank, severityRank, "opened_at", "id"],
      opened_at: ["opened_at", "id"],
      resolved_at: [resolvedOrder, "id"],
    },
    plan: planIncidents,
  },
  columns: {
    id: text<IncidentId>(),
    kind: text<IncidentKind>(),
    incident_key: text<IncidentKey>(),
    state: text<IncidentState>(),
    severity: text<Severity>(),
    /** The agent of the only member; absent with several members (docs/rules.md#incidents). */
    agent_id: orUndefined(text<AgentId>()),
    check_id: orUndefined(text<CheckId>()),
    /** The check that opened it; constant (docs/rules.md#alertmanager). */
    opener_agent_id: text<AgentId>(),
    opener_check_id: text<CheckId>(),
    opened_at: instant,
    resolved_at: orUndefined(instant),
    /**
     * Why its last member left: decides on a firing whose attempt was under way then. Absent while it is
     * open, and for incidents that earlier versions resolved.
     */
    resolved_by: orUndefined(text<Leaving["by"]>()),
    /** How it ended; absent while it is open, and for incidents that earlier versions resolved. */
    resolution: orUndefined(object<Resolution>()),
    summary: orUndefined(text()),
    /** How often a member joined, changed or left; numbers these changes. */
    member_changes: integer,
    members_warning: integer,
    members_unknown: integer,
    members_critical: integer,
    /** See `Acknowledgement`. Absent, as the next ones, unless acknowledged. */
    ack_by: orUndefined(text()),
    ack_note: orUndefined(text()),
    ack_at: orUndefined(instant),
    ack_until: orUndefined(instant),
    ack_severity: orUndefined(text<Severity>()),
    /** The severity that receivers are to know; absent before a loud event (docs/rules.md#firings). */
    announced: orUndefined(text<Severity>()),
    /** When it was first announced at this severity or worse; absent if it was never announced at it. */
    reached_warning_at: orUndefined(instant),
    reached_unknown_at: orUndefined(instant),
    reached_critical_at: orUndefined(instant),
    /** Since when a milder severity is announced, if one is; and when it was forgotten for that last. */
    left_unknown_at: orUndefined(instant),
    left_critical_at: orUndefined(instant),
    forgotten_unknown_at: orUndefined(instant),
    forgotten_critical_at: orUndefined(instant),
    /** The last end of an acknowledgement, or of a hold under which something was due (docs/rules.md#steps). */
    steps_began_at: orUndefined(instant),
    /** When it is evaluated next; absent where nothing is to come (docs/rules.md#evaluation). */
    next_evaluation_at: orUndefined(instant),
    /** How many log entries its timeline has, and the number of the last one. */
    log_entries: integer,
  },
})
export type IncidentRecord = RecordOf<typeof incident>

/** When an incident is evaluated that may be now; what an evaluation was to do earlier is still to come. */
export const soonOf = (
  { next_evaluation_at: next }: Pick<IncidentRecord, "next_evaluation_at">,
  now: Instant,
): Instant => (next !== undefined && next < now ? next : now)

/** The identity of an open incident: at most one is open per (kind, key). */
export type IncidentRef = Pick<IncidentRecord, "kind" | "incident_key">

const LONGEST_KEY = 256

/** The incident of the key that an event names, or the automatic one of its check. */
export const incidentRefOf = (
  agentId: AgentId,
  event: { readonly check_id: CheckId; readonly incident_key?: IncidentKey | undefined },
  sha256: (text: string) => string,
): IncidentRef => {
  if (event.incident_key !== undefined) return { kind: "named", incident_key: event.incident_key }
  return automaticRef(`${agentId}/${event.check_id}`, sha256)
}

/** The incident of a name that is made of IDs. */
export const automaticRef = (name: string, sha256: (text: string) => string): IncidentRef => {
  const key = name.length <= LONGEST_KEY ? name : `sha256:${sha256(name)}`
  // Not validated again: IDs contain plain text only.
  return { kind: "automatic", incident_key: key as IncidentKey }
}

/** Whether an incident is of late checks, unless its key is too long to show. */
export const isOfLate = ({ incident_key }: Pick<IncidentRef, "incident_key">): boolean =>
  incident_key.endsWith("/@overdue")

/** One change of an incident's membership, never edited. */
export const incident_change = storedTable({
  name: "incident_change",
  key: ["incident_id", "seq"],
  columns: {
    incident_id: text<IncidentId>(),
    /** Numbers the changes of one incident from 1. */
    seq: integer,
    changed_at: instant,
    change: text<"joined" | "worsened" | "improved" | "left">(),
    agent_id: text<AgentId>(),
    check_id: text<CheckId>(),
    /** The member's severity; its last one if it left. */
    severity: text<Severity>(),
    /** The incident's severity afterwards; absent when it resolved. */
    incident_severity: orUndefined(text<Severity>()),
    /** Of a member that joined: whether because it is late. Earlier versions did not say. */
    is_late: orUndefined(boolean),
  },
})
export type IncidentChangeRecord = RecordOf<typeof incident_change>

/** A resolved incident never reopens: new trouble opens a new one (docs/rules.md#incidents). */
export const IncidentTransitions = stateTable({
  absent: {
    "member_joined -> open":
      "a check turns not ok, moves from another incident, or its agent turns dead; no incident of its key is open | a firing is enqueued for each enabled notifier, if the event allows notifications",
  },
  open: {
    "member_joined -> open":
      "another check of the same key turns not ok, or moves from another incident | severity follows the worst member; if the event allows notifications, a firing is enqueued for each enabled notifier that has none at this severity or a higher one, discarded ones aside",
    "member_changed -> open":
      "a member changes from one failing status to another | severity follows the worst member; if the member worsened, firings as above",
    "member_left -> open":
      "a member turns ok, moves to another incident or is deleted, and others remain | severity, summary and the ids of a single member follow the remaining members",
    "last_member_left -> resolved":
      "the last member turns ok, moves to another incident or is deleted, or a dead agent makes contact | firings never attempted are discarded; if the event allows notifications, a resolved is enqueued for each notifier of which a firing was attempted and not refused; if the agent was deleted or blocked instead, pending and waiting firings are discarded, and a resolved is enqueued for each notifier of which a firing was sent or is being sent",
  },
})

/** An entry of an incident's log, never edited; part of its timeline. */
export const incident_log = storedTable({
  name: "incident_log",
  key: ["incident_id", "seq"],
  columns: {
    incident_id: text<IncidentId>(),
    /** Numbers the log entries of one incident from 1. */
    seq: integer,
    logged_at: instant,
    /** `worsened`: the incident became worse than acknowledged, which ended the acknowledgement. */
    action: text<"acknowledged" | "withdrawn" | "worsened" | "ran_out" | "noted">(),
    actor: text(),
    text: orUndefined(text()),
    ack_until: orUndefined(instant),
    severity: orUndefined(text<Severity>()),
  },
})
export type IncidentLogRecord = RecordOf<typeof incident_log>

/** An act before it is numbered; what it lacks is absent. */
export type LogEntry = Pick<IncidentLogRecord, "action" | "actor"> &
  Partial<Pick<IncidentLogRecord, "text" | "ack_until" | "severity">>

/** A change of an incident's members, as timelines and simulations show it. */
export const toTimelineEntry = (record: IncidentChangeRecord) => ({
  at: record.changed_at,
  ...Struct.pick(record, ["change", "agent_id", "check_id", "severity"]),
  incident_severity: record.incident_severity ?? null,
})

export const toLogEntry = ({
  ack_until,
  action,
  logged_at,
  actor,
  severity,
  text: said,
}: IncidentLogRecord) => ({
  at: logged_at,
  action,
  by: actor,
  ...(said !== undefined && { text: said }),
  ...(ack_until !== undefined && { until: ack_until }),
  ...(severity !== undefined && { severity }),
})
