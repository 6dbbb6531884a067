import type { Migration } from "@tocsin/core/ports/Migration"

/**
 * All tables of the first release. SQLite has the same tables and columns, except that it has
 * `check_event.is_latest` in place of `is_kept` (until its migration 3) and derives
 * `alert.claimable_order`.
 *
 * Each order of a list has one index that can serve it, so that no estimate decides how a page is
 * read.
 *
 * Times are microseconds since 1970. Text is compared bytewise. Tables that every heartbeat or
 * result updates are filled by half, and no index contains a column that these change, so that the
 * new version of a row stays in its page (HOT). There are no foreign keys: the locks of agents and
 * incidents guard their rows, and tables can be distributed.
 */
export const migration: Migration = {
  id: 1,
  name: "initial",
  compatibility: "compatible",
  sql: `
CREATE TABLE agent (
  agent_id text COLLATE "C" PRIMARY KEY,
  registration_id uuid NOT NULL,
  admission_state text COLLATE "C" NOT NULL CHECK (admission_state IN ('pending', 'accepted')),
  hostname text COLLATE "C" NOT NULL,
  features json NOT NULL,
  labels json,
  observed_at bigint NOT NULL,
  last_seen_at bigint NOT NULL,
  registered_at bigint NOT NULL,
  accepted_key_hash text COLLATE "C",
  pending_key_hash text COLLATE "C",
  key_fingerprint text COLLATE "C" NOT NULL,
  heartbeat_incident_id text COLLATE "C",
  checks_ok integer NOT NULL,
  checks_warning integer NOT NULL,
  checks_critical integer NOT NULL,
  checks_unknown integer NOT NULL
) WITH (fillfactor = 50);

CREATE INDEX agent_pending ON agent (agent_id) WHERE admission_state = 'pending';
CREATE INDEX agent_with_pending_key ON agent (agent_id) WHERE pending_key_hash IS NOT NULL;

CREATE TABLE agent_key (
  key_hash text COLLATE "C" PRIMARY KEY,
  key_fingerprint text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('pending', 'accepted', 'superseded', 'blocked')),
  created_at bigint NOT NULL,
  last_seen_at bigint NOT NULL,
  blacklist_id text COLLATE "C",
  blocked_at bigint,
  hostname text COLLATE "C",
  CHECK ((state = 'blocked') = (blacklist_id IS NOT NULL AND blocked_at IS NOT NULL AND hostname IS NOT NULL))
) WITH (fillfactor = 70);

CREATE INDEX agent_key_of_agent ON agent_key (agent_id) WHERE state <> 'blocked';
CREATE UNIQUE INDEX agent_key_blacklist_id ON agent_key (blacklist_id) WHERE state = 'blocked';
CREATE INDEX agent_key_blocked ON agent_key (blocked_at, blacklist_id) WHERE state = 'blocked';

CREATE TABLE check_state (
  agent_id text COLLATE "C" NOT NULL,
  registration_id uuid NOT NULL,
  check_id text COLLATE "C" NOT NULL,
  status text COLLATE "C" NOT NULL CHECK (status IN ('ok', 'warning', 'critical', 'unknown')),
  exit_code bigint NOT NULL,
  last_observed_at bigint NOT NULL,
  received_at bigint NOT NULL,
  incident_key text COLLATE "C",
  summary text COLLATE "C",
  seen_event_ids json NOT NULL,
  incident_id text COLLATE "C",
  PRIMARY KEY (agent_id, check_id, registration_id)
) WITH (fillfactor = 50);

CREATE TABLE check_event (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  agent_id text COLLATE "C" NOT NULL,
  registration_id uuid NOT NULL,
  event_id uuid NOT NULL,
  check_id text COLLATE "C" NOT NULL,
  observed_at bigint NOT NULL,
  received_at bigint NOT NULL,
  status text COLLATE "C" NOT NULL CHECK (status IN ('ok', 'warning', 'critical', 'unknown')),
  exit_code bigint NOT NULL,
  duration_ms bigint NOT NULL,
  output text COLLATE "C",
  output_truncated boolean NOT NULL,
  notifications_enabled boolean NOT NULL,
  incident_key text COLLATE "C",
  is_kept boolean NOT NULL DEFAULT false,
  UNIQUE (agent_id, event_id, registration_id)
);

-- seq + 0 is an order that the primary key does not have: PostgreSQL would walk it, past any number of other rows.
CREATE INDEX check_event_of_agent ON check_event (agent_id, registration_id, (seq + 0));
CREATE INDEX check_event_of_check ON check_event (agent_id, check_id, registration_id, (seq + 0));
CREATE INDEX check_event_by_check_id ON check_event (check_id, (seq + 0));
CREATE INDEX check_event_by_age ON check_event (received_at) WHERE NOT is_kept;
CREATE INDEX check_event_kept ON check_event (agent_id, check_id) WHERE is_kept;

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
  resolved_order bigint NOT NULL GENERATED ALWAYS AS (COALESCE(resolved_at, 9223372036854775807)) STORED
) WITH (fillfactor = 70);

CREATE UNIQUE INDEX incident_open ON incident (kind, incident_key) WHERE state = 'open';
CREATE INDEX incident_by_status ON incident (state_rank, severity_rank, opened_at, id);
CREATE INDEX incident_by_severity ON incident (severity_rank, state_rank, opened_at, id);
CREATE INDEX incident_by_resolved_at ON incident (state_rank, severity_rank, resolved_order, id);

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
  PRIMARY KEY (incident_id, agent_id, check_id)
) WITH (fillfactor = 70);

CREATE INDEX incident_member_worst
  ON incident_member (incident_id, is_present DESC, severity_rank DESC, change_seq DESC);
CREATE INDEX incident_member_of_agent ON incident_member (agent_id) WHERE left_at IS NULL;
CREATE INDEX incident_member_ever ON incident_member (agent_id, check_id, incident_id);
CREATE INDEX incident_member_by_check_id ON incident_member (check_id, incident_id, agent_id);

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
  counts_from bigint NOT NULL,
  updated_at bigint NOT NULL
) WITH (fillfactor = 70);

CREATE INDEX outbox_by_created_at ON outbox (state, notifier, event_type, created_at, id);
CREATE INDEX outbox_by_updated_at ON outbox (state, notifier, event_type, updated_at, id);
CREATE INDEX outbox_of_incident ON outbox (incident_id, notifier, incident_seq);
CREATE INDEX outbox_due ON outbox (notifier, next_attempt_at) WHERE state IN ('pending', 'retry');
CREATE INDEX outbox_leased ON outbox (leased_until) WHERE state = 'sending';

CREATE TABLE alert (
  incident_id text COLLATE "C" NOT NULL,
  severity text COLLATE "C" NOT NULL CHECK (severity IN ('warning', 'critical', 'unknown')),
  next_at bigint NOT NULL,
  ended_at bigint,
  leased_until bigint,
  PRIMARY KEY (incident_id, severity)
) WITH (fillfactor = 70);

CREATE INDEX alert_due ON alert (next_at);
CREATE INDEX alert_leased ON alert (leased_until) WHERE leased_until IS NOT NULL;

CREATE TABLE mark (
  name text COLLATE "C" PRIMARY KEY,
  marked_at bigint NOT NULL,
  outage_ended_at bigint
) WITH (fillfactor = 50);

CREATE TABLE removed_registration (
  registration_id uuid PRIMARY KEY,
  agent_id text COLLATE "C" NOT NULL
);

CREATE TABLE established (
  name text COLLATE "C" PRIMARY KEY,
  value text COLLATE "C" NOT NULL
);
`,
}
