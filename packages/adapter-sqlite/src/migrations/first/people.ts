/**
 * Operators, integrations, watches, what they changed, what they silenced, and the processes that serve them.
 */
export const PEOPLE = `
CREATE TABLE operator (
  name TEXT NOT NULL PRIMARY KEY,
  role TEXT NOT NULL,
  token_hash TEXT NOT NULL,
  former_token_hash TEXT,
  former_valid_until INTEGER,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  expires_at INTEGER,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX operator_by_token ON operator (token_hash);
CREATE INDEX operator_by_former_token ON operator (former_token_hash) WHERE former_token_hash IS NOT NULL;

CREATE TABLE integration (
  name TEXT NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL,
  options TEXT NOT NULL,
  key_hash TEXT,
  former_key_hash TEXT,
  former_valid_until INTEGER,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  last_request_at INTEGER,
  last_refused_at INTEGER,
  last_refusal TEXT,
  sources TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE enrolment (
  id TEXT NOT NULL PRIMARY KEY,
  agent_id TEXT,
  uses INTEGER NOT NULL,
  used INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX enrolment_by_created ON enrolment (created_at, id);
CREATE INDEX enrolment_by_end ON enrolment (expires_at);

CREATE TABLE watch (
  name TEXT NOT NULL PRIMARY KEY,
  every_millis INTEGER NOT NULL,
  confirm TEXT NOT NULL,
  probe TEXT NOT NULL,
  origin TEXT NOT NULL,
  paused_until INTEGER,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL,
  next_probe_at INTEGER NOT NULL,
  probed_at INTEGER,
  status TEXT,
  output TEXT,
  counted TEXT,
  counted_at INTEGER,
  against INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency_key (
  id TEXT NOT NULL PRIMARY KEY,
  request_hash TEXT NOT NULL,
  acted_at INTEGER NOT NULL,
  answer TEXT
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_key_by_age ON idempotency_key (acted_at);

CREATE TABLE audit (
  id TEXT NOT NULL PRIMARY KEY,
  recorded_at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  via TEXT NOT NULL,
  action TEXT NOT NULL,
  subjects TEXT NOT NULL,
  parameters TEXT,
  request_id TEXT
) STRICT;

CREATE INDEX audit_by_time ON audit (recorded_at, id);
CREATE INDEX audit_by_actor ON audit (actor, recorded_at, id);
CREATE INDEX audit_by_action ON audit (action, recorded_at, id);
CREATE INDEX audit_by_actor_and_action ON audit (actor, action, recorded_at, id);

CREATE TABLE audit_subject (
  subject_id TEXT NOT NULL,
  audit_id TEXT NOT NULL,
  recorded_at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  PRIMARY KEY (audit_id, subject_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX audit_subject_by_time ON audit_subject (subject_id, recorded_at, audit_id);
CREATE INDEX audit_subject_by_actor ON audit_subject (subject_id, actor, recorded_at, audit_id);
CREATE INDEX audit_subject_by_action ON audit_subject (subject_id, action, recorded_at, audit_id);
CREATE INDEX audit_subject_by_actor_and_action ON audit_subject (subject_id, actor, action, recorded_at, audit_id);

CREATE TABLE silence (
  id TEXT NOT NULL PRIMARY KEY,
  matchers TEXT NOT NULL,
  starts_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL,
  comment TEXT NOT NULL,
  created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX silence_by_created ON silence (created_at, id);
CREATE INDEX silence_by_end ON silence (ends_at);

CREATE TABLE replica (
  id TEXT NOT NULL PRIMARY KEY,
  version TEXT NOT NULL,
  policy_hash TEXT NOT NULL,
  receivers TEXT NOT NULL,
  probes INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;

CREATE TABLE policy_version (
  version INTEGER NOT NULL PRIMARY KEY,
  hash TEXT NOT NULL,
  text TEXT NOT NULL,
  applied_at INTEGER NOT NULL,
  applied_by TEXT NOT NULL
) STRICT;
`
