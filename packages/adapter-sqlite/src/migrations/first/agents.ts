/**
 * Agents, their keys, what their checks reported and must report, and what the service keeps about itself.
 */
export const AGENTS = `
CREATE TABLE agent (
  agent_id TEXT NOT NULL PRIMARY KEY,
  registration_id TEXT NOT NULL,
  admission_state TEXT NOT NULL,
  observed_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  registered_at INTEGER NOT NULL,
  checks_ok INTEGER NOT NULL,
  checks_warning INTEGER NOT NULL,
  checks_critical INTEGER NOT NULL,
  checks_unknown INTEGER NOT NULL,
  key_fingerprint TEXT NOT NULL,
  accepted_key_hash TEXT,
  pending_key_hash TEXT,
  heartbeat_incident_id TEXT,
  hostname TEXT NOT NULL,
  features TEXT NOT NULL,
  labels TEXT,
  reachable_from INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX agent_pending ON agent (agent_id) WHERE admission_state = 'pending';
CREATE INDEX agent_with_pending_key ON agent (agent_id) WHERE pending_key_hash IS NOT NULL;

CREATE TABLE agent_key (
  key_hash TEXT NOT NULL PRIMARY KEY,
  key_fingerprint TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  state TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  blacklist_id TEXT,
  blocked_at INTEGER,
  hostname TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX agent_key_of_agent ON agent_key (agent_id) WHERE blacklist_id IS NULL;
CREATE UNIQUE INDEX agent_key_blacklist_id ON agent_key (blacklist_id) WHERE state = 'blocked';
CREATE INDEX agent_key_blocked ON agent_key (blocked_at, blacklist_id) WHERE state = 'blocked';

CREATE TABLE check_state (
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  status TEXT NOT NULL,
  exit_code INTEGER NOT NULL,
  last_observed_at INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  incident_id TEXT,
  incident_key TEXT,
  seen_event_ids TEXT NOT NULL,
  summary TEXT,
  overdue_incident_id TEXT,
  declaration TEXT,
  PRIMARY KEY (agent_id, check_id, registration_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX check_state_not_ok ON check_state (agent_id, check_id) WHERE status <> 'ok';

CREATE TABLE check_event (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  agent_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  observed_at INTEGER NOT NULL,
  received_at INTEGER NOT NULL,
  status TEXT NOT NULL,
  exit_code INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  output_truncated INTEGER NOT NULL,
  notifications_enabled INTEGER NOT NULL,
  is_kept INTEGER NOT NULL DEFAULT 1,
  incident_key TEXT,
  output TEXT,
  UNIQUE (agent_id, event_id, registration_id)
) STRICT;

CREATE INDEX check_event_of_agent ON check_event (registration_id);
CREATE INDEX check_event_of_check ON check_event (registration_id, check_id);
CREATE INDEX check_event_by_check_id ON check_event (check_id);
CREATE INDEX check_event_by_age ON check_event (received_at) WHERE is_kept = 0;
CREATE INDEX check_event_kept ON check_event (registration_id, check_id) WHERE is_kept = 1;

CREATE TABLE expectation (
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  origin TEXT NOT NULL,
  expected_from INTEGER NOT NULL,
  next_evaluation_at INTEGER,
  incident_id TEXT,
  terms TEXT,
  labels TEXT,
  labelled_at INTEGER,
  PRIMARY KEY (agent_id, check_id, registration_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX expectation_by_next_evaluation ON expectation (next_evaluation_at, agent_id, check_id, registration_id)
WHERE next_evaluation_at IS NOT NULL;
CREATE INDEX expectation_overdue ON expectation (agent_id, check_id) WHERE incident_id IS NOT NULL;

CREATE TABLE removed_registration (
  registration_id TEXT NOT NULL PRIMARY KEY,
  agent_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE service_heartbeat (
  name TEXT NOT NULL PRIMARY KEY,
  beat_at INTEGER NOT NULL,
  outage_ended_at INTEGER,
  outage_began_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE established (
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`
