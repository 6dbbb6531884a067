/**
 * Incidents with their members and their timeline, and what is sent about them.
 */
export const INCIDENTS = `
CREATE TABLE incident (
  id TEXT NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL,
  incident_key TEXT NOT NULL,
  state TEXT NOT NULL,
  severity TEXT NOT NULL,
  agent_id TEXT,
  check_id TEXT,
  opener_agent_id TEXT NOT NULL,
  opener_check_id TEXT NOT NULL,
  opened_at INTEGER NOT NULL,
  resolved_at INTEGER,
  member_changes INTEGER NOT NULL,
  members_warning INTEGER NOT NULL,
  members_unknown INTEGER NOT NULL,
  members_critical INTEGER NOT NULL,
  state_rank INTEGER NOT NULL AS (CASE state WHEN 'open' THEN 1 WHEN 'resolved' THEN 0 END) STORED,
  severity_rank INTEGER NOT NULL AS (CASE severity WHEN 'critical' THEN 3 WHEN 'unknown' THEN 2 WHEN 'warning' THEN 1 END) STORED,
  resolved_order INTEGER NOT NULL AS (coalesce(resolved_at, 9223372036854775807)) STORED,
  phase INTEGER NOT NULL AS (CASE WHEN state = 'resolved' THEN 0 WHEN ack_until IS NULL THEN 1 ELSE 2 END) VIRTUAL,
  summary TEXT,
  ack_by TEXT,
  ack_note TEXT,
  ack_at INTEGER,
  ack_until INTEGER,
  ack_severity TEXT,
  log_entries INTEGER NOT NULL DEFAULT 0,
  announced TEXT,
  reached_warning_at INTEGER,
  reached_unknown_at INTEGER,
  reached_critical_at INTEGER,
  next_evaluation_at INTEGER,
  resolved_by TEXT
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX incident_open ON incident (kind, incident_key) WHERE state = 'open';
CREATE INDEX incident_by_next_evaluation ON incident (next_evaluation_at, id) WHERE next_evaluation_at IS NOT NULL AND state = 'open';
CREATE INDEX incident_by_ack_end ON incident (ack_until) WHERE ack_until IS NOT NULL AND state = 'open';
CREATE INDEX incident_by_key ON incident (incident_key, kind, opened_at);

CREATE TABLE incident_member (
  incident_id TEXT NOT NULL REFERENCES incident ON DELETE CASCADE,
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  severity TEXT NOT NULL,
  change_seq INTEGER NOT NULL,
  joined_at INTEGER NOT NULL,
  left_at INTEGER,
  severity_rank INTEGER NOT NULL AS (CASE severity WHEN 'critical' THEN 3 WHEN 'unknown' THEN 2 WHEN 'warning' THEN 1 END) STORED,
  is_present INTEGER NOT NULL AS (left_at IS NULL) STORED,
  summary TEXT,
  is_loud INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (incident_id, agent_id, check_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX incident_member_worst ON incident_member (incident_id, is_present DESC, severity_rank DESC, change_seq DESC);
CREATE INDEX incident_member_of_agent ON incident_member (agent_id) WHERE left_at IS NULL;
CREATE INDEX incident_member_of_check ON incident_member (check_id) WHERE left_at IS NULL;

CREATE TABLE incident_change (
  incident_id TEXT NOT NULL REFERENCES incident ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  changed_at INTEGER NOT NULL,
  change TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  severity TEXT NOT NULL,
  incident_severity TEXT,
  PRIMARY KEY (incident_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE incident_log (
  incident_id TEXT NOT NULL REFERENCES incident ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  logged_at INTEGER NOT NULL,
  action TEXT NOT NULL,
  actor TEXT NOT NULL,
  text TEXT,
  ack_until INTEGER,
  severity TEXT,
  PRIMARY KEY (incident_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE outbox (
  id TEXT NOT NULL PRIMARY KEY,
  notifier TEXT NOT NULL,
  state TEXT NOT NULL,
  incident_id TEXT NOT NULL,
  event_type TEXT NOT NULL,
  incident_seq INTEGER NOT NULL,
  severity TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  next_attempt_at INTEGER,
  leased_until INTEGER,
  created_at INTEGER NOT NULL,
  age_starts_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  summary TEXT,
  last_error TEXT,
  receiver TEXT NOT NULL,
  cause TEXT,
  first_attempted_at INTEGER,
  next_evaluation_at INTEGER,
  held_by TEXT,
  must_send INTEGER NOT NULL DEFAULT 0,
  parent_ended_at INTEGER,
  first_parent_ended_at INTEGER,
  released_at INTEGER,
  listed_state TEXT NOT NULL
    AS (CASE WHEN state = 'pending' AND next_evaluation_at IS NOT NULL THEN 'held' ELSE state END) VIRTUAL
) STRICT, WITHOUT ROWID;

CREATE INDEX outbox_of_incident ON outbox (incident_id, incident_seq);
CREATE INDEX outbox_unfinished ON outbox (incident_id) WHERE state IN ('pending', 'sending', 'retry');
CREATE INDEX outbox_leased ON outbox (leased_until, id) WHERE state = 'sending';
CREATE INDEX outbox_due ON outbox (receiver, next_attempt_at, id) WHERE state IN ('pending', 'retry');
CREATE INDEX outbox_held ON outbox (next_evaluation_at, id) WHERE next_evaluation_at IS NOT NULL;
CREATE INDEX outbox_by_created_at ON outbox (listed_state, notifier, event_type, created_at, id);
CREATE INDEX outbox_by_updated_at ON outbox (listed_state, notifier, event_type, updated_at, id);

CREATE TABLE alert (
  incident_id TEXT NOT NULL REFERENCES incident ON DELETE CASCADE,
  receiver TEXT NOT NULL,
  severity TEXT NOT NULL,
  next_at INTEGER NOT NULL,
  ended_at INTEGER,
  leased_until INTEGER,
  PRIMARY KEY (incident_id, receiver, severity)
) STRICT, WITHOUT ROWID;

CREATE INDEX alert_due ON alert (receiver, next_at, incident_id, severity);
CREATE INDEX alert_leased ON alert (receiver, leased_until) WHERE leased_until IS NOT NULL;
`
