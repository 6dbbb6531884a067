/**
 * Incidents with their members and their timeline, and what is sent about them.
 */
export const INCIDENTS = `
CREATE TABLE incident (
  id text COLLATE "C" PRIMARY KEY,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('named', 'automatic')),
  incident_key text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('open', 'resolved')),
  severity text COLLATE "C" NOT NULL CHECK (severity IN ('warning', 'critical', 'unknown')),
  agent_id text COLLATE "C",
  check_id text COLLATE "C",
  opener_agent_id text COLLATE "C" NOT NULL,
  opener_check_id text COLLATE "C" NOT NULL,
  opened_at bigint NOT NULL,
  resolved_at bigint,
  summary text COLLATE "C",
  member_changes integer NOT NULL,
  members_warning integer NOT NULL,
  members_unknown integer NOT NULL,
  members_critical integer NOT NULL,
  state_rank smallint NOT NULL GENERATED ALWAYS AS (CASE state WHEN 'open' THEN 1 ELSE 0 END) STORED,
  severity_rank smallint NOT NULL
    GENERATED ALWAYS AS (CASE severity WHEN 'critical' THEN 3 WHEN 'unknown' THEN 2 ELSE 1 END) STORED,
  resolved_order bigint NOT NULL GENERATED ALWAYS AS (COALESCE(resolved_at, 9223372036854775807)) STORED,
  phase smallint NOT NULL
    GENERATED ALWAYS AS (CASE WHEN state = 'resolved' THEN 0 WHEN ack_until IS NULL THEN 1 ELSE 2 END) STORED,
  ack_by text COLLATE "C",
  ack_note text COLLATE "C",
  ack_at bigint,
  ack_until bigint,
  ack_severity text COLLATE "C",
  log_entries integer NOT NULL DEFAULT 0,
  announced text COLLATE "C",
  reached_warning_at bigint,
  reached_unknown_at bigint,
  reached_critical_at bigint,
  next_evaluation_at bigint,
  resolved_by text COLLATE "C"
) WITH (fillfactor = 70);

CREATE UNIQUE INDEX incident_open ON incident (kind, incident_key) WHERE state = 'open';
CREATE INDEX incident_by_next_evaluation ON incident (next_evaluation_at, id) WHERE next_evaluation_at IS NOT NULL AND state = 'open';
CREATE INDEX incident_by_ack_end ON incident (ack_until) WHERE ack_until IS NOT NULL AND state = 'open';
CREATE INDEX incident_by_key ON incident (incident_key, kind, opened_at);

CREATE TABLE incident_member (
  incident_id text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  check_id text COLLATE "C" NOT NULL,
  severity text COLLATE "C" NOT NULL CHECK (severity IN ('warning', 'critical', 'unknown')),
  change_seq integer NOT NULL,
  summary text COLLATE "C",
  joined_at bigint NOT NULL,
  left_at bigint,
  severity_rank smallint NOT NULL
    GENERATED ALWAYS AS (CASE severity WHEN 'critical' THEN 3 WHEN 'unknown' THEN 2 ELSE 1 END) STORED,
  is_present boolean NOT NULL GENERATED ALWAYS AS (left_at IS NULL) STORED,
  is_loud boolean NOT NULL DEFAULT true,
  PRIMARY KEY (agent_id, check_id, incident_id)
) WITH (fillfactor = 70);

CREATE INDEX incident_member_worst
  ON incident_member (incident_id, is_present DESC, severity_rank DESC, change_seq DESC);
CREATE INDEX incident_member_of_agent ON incident_member (agent_id) WHERE left_at IS NULL;
CREATE INDEX incident_member_of_check ON incident_member (check_id) WHERE left_at IS NULL;

CREATE TABLE incident_change (
  incident_id text COLLATE "C" NOT NULL,
  seq integer NOT NULL,
  changed_at bigint NOT NULL,
  change text COLLATE "C" NOT NULL CHECK (change IN ('joined', 'worsened', 'improved', 'left')),
  agent_id text COLLATE "C" NOT NULL,
  check_id text COLLATE "C" NOT NULL,
  severity text COLLATE "C" NOT NULL,
  incident_severity text COLLATE "C",
  PRIMARY KEY (incident_id, seq)
);

CREATE TABLE incident_log (
  incident_id text COLLATE "C" NOT NULL REFERENCES incident ON DELETE CASCADE,
  seq integer NOT NULL,
  logged_at bigint NOT NULL,
  action text COLLATE "C" NOT NULL,
  actor text COLLATE "C" NOT NULL,
  text text COLLATE "C",
  ack_until bigint,
  severity text COLLATE "C",
  PRIMARY KEY (incident_id, seq)
);

CREATE TABLE outbox (
  id text COLLATE "C" PRIMARY KEY,
  notifier text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL
    CHECK (state IN ('pending', 'sending', 'sent', 'retry', 'failed', 'discarded')),
  incident_id text COLLATE "C" NOT NULL,
  event_type text COLLATE "C" NOT NULL CHECK (event_type IN ('firing', 'resolved')),
  incident_seq integer NOT NULL,
  severity text COLLATE "C" NOT NULL,
  summary text COLLATE "C",
  attempts integer NOT NULL,
  next_attempt_at bigint,
  last_error text COLLATE "C",
  leased_until bigint,
  created_at bigint NOT NULL,
  age_starts_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  receiver text COLLATE "C" NOT NULL,
  cause text COLLATE "C",
  first_attempted_at bigint,
  next_evaluation_at bigint,
  held_by json,
  must_send boolean NOT NULL DEFAULT false,
  parent_ended_at bigint,
  first_parent_ended_at bigint,
  released_at bigint,
  listed_state text COLLATE "C" NOT NULL
    GENERATED ALWAYS AS (CASE WHEN state = 'pending' AND next_evaluation_at IS NOT NULL THEN 'held' ELSE state END) STORED
) WITH (fillfactor = 70);

CREATE INDEX outbox_by_created_at ON outbox (listed_state, notifier, event_type, created_at, id);
CREATE INDEX outbox_by_updated_at ON outbox (listed_state, notifier, event_type, updated_at, id);
CREATE INDEX outbox_of_incident ON outbox (incident_id, receiver, incident_seq);
CREATE INDEX outbox_due ON outbox (receiver, next_attempt_at, id) WHERE state IN ('pending', 'retry');
CREATE INDEX outbox_leased ON outbox (leased_until, id) WHERE state = 'sending';
CREATE INDEX outbox_held ON outbox (next_evaluation_at, id) WHERE next_evaluation_at IS NOT NULL;

CREATE TABLE alert (
  receiver text COLLATE "C" NOT NULL,
  incident_id text COLLATE "C" NOT NULL,
  severity text COLLATE "C" NOT NULL CHECK (severity IN ('warning', 'critical', 'unknown')),
  next_at bigint NOT NULL,
  ended_at bigint,
  leased_until bigint,
  PRIMARY KEY (incident_id, receiver, severity)
) WITH (fillfactor = 70);

CREATE INDEX alert_due ON alert (receiver, next_at, incident_id, severity);
CREATE INDEX alert_leased ON alert (receiver, leased_until) WHERE leased_until IS NOT NULL;
`
