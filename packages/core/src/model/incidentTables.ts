import type { IncidentChangeRecord, IncidentLogRecord, IncidentRecord } from "./IncidentRecord.ts"
import type { MemberRecord } from "./MemberRecord.ts"
import {
  boolean,
  instant,
  integer,
  type KeyedShape,
  orUndefined,
  type TableShape,
  text,
} from "./TableShape.ts"

/** The tables of incidents; see StoredTables. */
export const incident: TableShape<IncidentRecord> = {
  name: "incident",
  key: ["id"],
  columns: {
    id: text,
    kind: text,
    incident_key: text,
    state: text,
    severity: text,
    agent_id: orUndefined(text),
    check_id: orUndefined(text),
    opener_agent_id: text,
    opener_check_id: text,
    opened_at: instant,
    resolved_at: orUndefined(instant),
    resolved_by: orUndefined(text),
    summary: orUndefined(text),
    member_changes: integer,
    members_warning: integer,
    members_unknown: integer,
    members_critical: integer,
    ack_by: orUndefined(text),
    ack_note: orUndefined(text),
    ack_at: orUndefined(instant),
    ack_until: orUndefined(instant),
    ack_severity: orUndefined(text),
    announced: orUndefined(text),
    reached_warning_at: orUndefined(instant),
    reached_unknown_at: orUndefined(instant),
    reached_critical_at: orUndefined(instant),
    next_evaluation_at: orUndefined(instant),
    log_entries: integer,
  },
}

export const incident_member: KeyedShape<
  MemberRecord,
  readonly ["incident_id", "agent_id", "check_id"],
  readonly ["agent_id"]
> = {
  name: "incident_member",
  key: ["incident_id", "agent_id", "check_id"],
  locks: "guarded",
  group: ["agent_id"],
  groupedWithout: "left_at",
  columns: {
    incident_id: text,
    agent_id: text,
    check_id: text,
    severity: text,
    change_seq: integer,
    summary: orUndefined(text),
    joined_at: instant,
    left_at: orUndefined(instant),
    is_loud: boolean,
  },
}

export const incident_change: TableShape<IncidentChangeRecord> = {
  name: "incident_change",
  key: ["incident_id", "seq"],
  columns: {
    incident_id: text,
    seq: integer,
    changed_at: instant,
    change: text,
    agent_id: text,
    check_id: text,
    severity: text,
    incident_severity: orUndefined(text),
  },
}

export const incident_log: TableShape<IncidentLogRecord> = {
  name: "incident_log",
  key: ["incident_id", "seq"],
  columns: {
    incident_id: text,
    seq: integer,
    logged_at: instant,
    action: text,
    actor: text,
    text: orUndefined(text),
    ack_until: orUndefined(instant),
    severity: orUndefined(text),
  },
}
