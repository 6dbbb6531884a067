const SEVERITY_RANK = `severity_rank smallint NOT NULL
    GENERATED ALWAYS AS (CASE severity WHEN 'critical' THEN 3 WHEN 'unknown' THEN 2 ELSE 1 END) STORED`

/** The tables of incidents and of what is sent about them, as `firstTables` has them. */
export const firstIncidentTables: Readonly<Record<string, string>> = {
  incident: `
  id text PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('named', 'automatic')),
  incident_key text NOT NULL,
  state text NOT NULL CHECK (state IN ('open', 'resolved')),
  severity text NOT NULL CHECK (severity IN ('warning', 'critical', 'unknown')),
  agent_id text,
  check_id text,
  opener_agent_id text NOT NULL,
  opener_check_id text NOT NULL,
  opened_at bigint NOT NULL,
  resolved_at bigint,
  member_changes integer NOT NULL,
  members_warning integer NOT NULL,
  members_unknown integer NOT NULL,
  members_critical integer NOT NULL,
  state_rank smallint NOT NULL GENERATED ALWAYS AS (CASE state WHEN 'open' THEN 1 ELSE 0 END) STORED,
  ${SEVERITY_RANK},
  resolved_order bigint NOT NULL GENERATED ALWAYS AS (coalesce(resolved_at, 9223372036854775807)) STORED,
  phase smallint NOT NULL
    GENERATED ALWAYS AS (CASE WHEN state = 'resolved' THEN 0 WHEN ack_until IS NULL THEN 1 ELSE 2 END) STORED,
  summary text,
  ack_by text,
  ack_note text,
  ack_at bigint,
  ack_until bigint,
  ack_severity text,
  log_entries integer NOT NULL DEFAULT 0,
  announced text,
  reached_warning_at bigint,
  reached_unknown_at bigint,
  reached_critical_at bigint,
  next_evaluation_at bigint,
  resolved_by text`,
  incident_member: `
  incident_id text NOT NULL,
  agent_id text NOT NULL,
  check_id text NOT NULL,
  severity text NOT NULL CHECK (severity IN ('warning', 'critical', 'unknown')),
  change_seq integer NOT NULL,
  joined_at bigint NOT NULL,
  left_at bigint,
  ${SEVERITY_RANK},
  is_present boolean NOT NULL GENERATED ALWAYS AS (left_at IS NULL) STORED,
  summary text,
  is_loud boolean NOT NULL DEFAULT true,
  PRIMARY KEY (incident_id, agent_id, check_id)`,
  incident_change: `
  incident_id text NOT NULL,
  seq integer NOT NULL,
  changed_at bigint NOT NULL,
  change text NOT NULL CHECK (change IN ('joined', 'worsened', 'improved', 'left')),
  agent_id text NOT NULL,
  check_id text NOT NULL,
  severity text NOT NULL,
  incident_severity text,
  PRIMARY KEY (incident_id, seq)`,
  incident_log: `
  incident_id text NOT NULL,
  seq integer NOT NULL,
  logged_at bigint NOT NULL,
  action text NOT NULL,
  actor text NOT NULL,
  text text,
  ack_until bigint,
  severity text,
  PRIMARY KEY (incident_id, seq)`,
  outbox: `
  id text PRIMARY KEY,
  notifier text NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'sending', 'sent', 'retry', 'failed', 'discarded')),
  incident_id text NOT NULL,
  event_type text NOT NULL CHECK (event_type IN ('firing', 'resolved')),
  incident_seq integer NOT NULL,
  severity text NOT NULL,
  attempts integer NOT NULL,
  next_attempt_at bigint,
  leased_until bigint,
  created_at bigint NOT NULL,
  age_starts_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  summary text,
  last_error text,
  receiver text NOT NULL,
  cause text,
  first_attempted_at bigint,
  next_evaluation_at bigint,
  held_by json,
  must_send boolean NOT NULL DEFAULT false,
  is_backfill boolean NOT NULL DEFAULT false,
  parent_ended_at bigint,
  first_parent_ended_at bigint,
  released_at bigint,
  listed_state text NOT NULL
    GENERATED ALWAYS AS (CASE WHEN state = 'pending' AND next_evaluation_at IS NOT NULL THEN 'held' ELSE state END) STORED`,
  alert: `
  incident_id text NOT NULL,
  receiver text NOT NULL,
  severity text NOT NULL CHECK (severity IN ('warning', 'critical', 'unknown')),
  next_at bigint NOT NULL,
  ended_at bigint,
  leased_until bigint,
  PRIMARY KEY (incident_id, receiver, severity)`,
  listed_member: `
  id text NOT NULL,
  agent_id text NOT NULL,
  check_id text NOT NULL,
  phase smallint NOT NULL,
  severity_rank smallint NOT NULL,
  opened_at bigint NOT NULL,
  resolved_order bigint NOT NULL,
  state_rank smallint NOT NULL GENERATED ALWAYS AS (CASE phase WHEN 0 THEN 0 ELSE 1 END) STORED,
  PRIMARY KEY (id, agent_id, check_id)`,
}

/** The check that opened an incident, or a part of it, in front of an index. */
const OPENERS = [
  ["", ""],
  ["_of_agent", "opener_agent_id, "],
  ["_of_check", "opener_check_id, "],
  ["_of_both", "opener_agent_id, opener_check_id, "],
] as const

const indexesBy = (order: "opened_at" | "resolved_at", column: string): string =>
  OPENERS.map(
    ([of, columns]) =>
      `CREATE INDEX incident${of}_by_${order} ON incident (${columns}phase, severity_rank, ${column}, id);`,
  ).join("\n")

/**
 * Every filter and order of incidents has an index that begins with the filter, so that a page reads its
 * own rows only.
 *
 * The table of incidents has those for the check that opened each. `listed_member` has rows for other
 * members, which triggers keep: by agent, by check, and by both; the empty text stands for all. Phases: 0
 * resolved, 1 open, 2 acknowledged. A change moves few rows: those of an incident with more than 100 changes
 * get phase 3 instead, and stay there.
 */
export const INCIDENT_INDEXES = `
CREATE UNIQUE INDEX incident_open ON incident (kind, incident_key) WHERE state = 'open';
CREATE INDEX incident_by_next_evaluation ON incident (next_evaluation_at, id)
WHERE next_evaluation_at IS NOT NULL AND state = 'open';
CREATE INDEX incident_by_ack_end ON incident (ack_until) WHERE ack_until IS NOT NULL AND state = 'open';
CREATE INDEX incident_by_key ON incident (incident_key, kind, opened_at);
CREATE INDEX incident_member_worst ON incident_member (incident_id, is_present DESC, severity_rank DESC, change_seq DESC);
CREATE INDEX incident_member_of_agent ON incident_member (agent_id) WHERE left_at IS NULL;
CREATE INDEX incident_member_of_check ON incident_member (check_id) WHERE left_at IS NULL;
CREATE INDEX outbox_by_created_at ON outbox (listed_state, notifier, event_type, created_at, id);
CREATE INDEX outbox_by_updated_at ON outbox (listed_state, notifier, event_type, updated_at, id);
CREATE INDEX outbox_due ON outbox (receiver, is_backfill, next_attempt_at, id) WHERE state IN ('pending', 'retry');
CREATE INDEX outbox_leased ON outbox (leased_until, id) WHERE state = 'sending';
CREATE INDEX outbox_held ON outbox (next_evaluation_at, id) WHERE next_evaluation_at IS NOT NULL;
CREATE INDEX alert_due ON alert (receiver, next_at, incident_id, severity);
CREATE INDEX alert_leased ON alert (receiver, leased_until) WHERE leased_until IS NOT NULL;
${indexesBy("opened_at", "opened_at")}
${indexesBy("resolved_at", "resolved_order")}
`

/** Whether the incident of a trigger's row changed its members too often to be moved with each of them. */
export const isBusy = (row: string): string => `(${row}.member_changes > 100)`

/** False of an incident whose opener joined it, and perhaps left it: of most. */
export const HAS_OTHERS = "NEW.member_changes > CASE NEW.state WHEN 'resolved' THEN 2 ELSE 1 END"
