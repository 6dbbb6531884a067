import type { Migration } from "@tocsin/core/ports/Migration"

const OUTBOX = `id, notifier, state, incident_id, event_type, incident_seq, severity, attempts, next_attempt_at, leased_until,
  created_at, age_starts_at, updated_at, summary, last_error, receiver, cause, first_attempted_at, next_evaluation_at,
  must_send, is_backfill, released_at, discarded_because, holds`

const CHECK_STATE = `agent_id, check_id, registration_id, status, exit_code, last_observed_at, received_at, incident_id,
  incident_key, seen_event_ids, summary, overdue_incident_id, declaration`

/**
 * The states of notifications and checks are compared one by one: for a list of three or more values, SQLite builds
 * a table each time that a statement evaluates a CHECK or the condition of an index. It changes a CHECK by making
 * another table.
 */
const COMPARED = `
CREATE TABLE other_outbox (
  id TEXT PRIMARY KEY,
  notifier TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state = 'pending' OR state = 'sending' OR state = 'sent' OR state = 'retry'
    OR state = 'failed' OR state = 'discarded'),
  incident_id TEXT NOT NULL,
  event_type TEXT NOT NULL CHECK (event_type IN ('firing', 'resolved')),
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
  must_send INTEGER NOT NULL DEFAULT false,
  is_backfill INTEGER NOT NULL DEFAULT false,
  released_at INTEGER,
  discarded_because TEXT,
  holds TEXT,
  listed_state TEXT NOT NULL
    GENERATED ALWAYS AS (CASE WHEN state = 'pending' AND next_evaluation_at IS NOT NULL THEN 'held' ELSE state END) STORED
) STRICT, WITHOUT ROWID;
INSERT INTO other_outbox (${OUTBOX}) SELECT ${OUTBOX} FROM outbox;
DROP TABLE outbox;
ALTER TABLE other_outbox RENAME TO outbox;
CREATE INDEX outbox_by_created_at ON outbox (listed_state, notifier, event_type, created_at, id);
CREATE INDEX outbox_by_updated_at ON outbox (listed_state, notifier, event_type, updated_at, id);
CREATE INDEX outbox_due ON outbox (receiver, is_backfill, next_attempt_at, id) WHERE state IN ('pending', 'retry');
CREATE INDEX outbox_held ON outbox (next_evaluation_at, id) WHERE next_evaluation_at IS NOT NULL;
CREATE INDEX outbox_leased ON outbox (leased_until, id) WHERE state = 'sending';
CREATE INDEX outbox_of_incident ON outbox (incident_id, incident_seq);
CREATE INDEX outbox_unfinished ON outbox (incident_id) WHERE state = 'pending' OR state = 'sending' OR state = 'retry';

CREATE TABLE other_check_state (
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status = 'ok' OR status = 'warning' OR status = 'critical' OR status = 'unknown'),
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
INSERT INTO other_check_state (${CHECK_STATE}) SELECT ${CHECK_STATE} FROM check_state;
DROP TABLE check_state;
ALTER TABLE other_check_state RENAME TO check_state;
CREATE INDEX check_state_not_ok ON check_state (agent_id, check_id) WHERE status <> 'ok';
`

/** A change of a status costs less. Servers that name `outbox_unfinished` with a list must be stopped first. */
export const migration: Migration = {
  id: 7,
  name: "cheaper_changes",
  compatibility: "breaking",
  sql: COMPARED,
}
