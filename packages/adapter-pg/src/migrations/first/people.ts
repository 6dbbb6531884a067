/**
 * Operators, integrations, watches, what they changed, what they silenced, and the processes that serve them.
 */
export const PEOPLE = `
CREATE TABLE operator (
  name text COLLATE "C" PRIMARY KEY,
  role text COLLATE "C" NOT NULL,
  token_hash text COLLATE "C" NOT NULL,
  former_token_hash text COLLATE "C",
  former_valid_until bigint,
  created_at bigint NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  expires_at bigint,
  last_used_at bigint
);
CREATE UNIQUE INDEX operator_by_token ON operator (token_hash);
CREATE INDEX operator_by_former_token ON operator (former_token_hash) WHERE former_token_hash IS NOT NULL;

CREATE TABLE integration (
  name text COLLATE "C" PRIMARY KEY,
  kind text COLLATE "C" NOT NULL,
  options json NOT NULL,
  key_hash text COLLATE "C",
  former_key_hash text COLLATE "C",
  former_valid_until bigint,
  created_at bigint NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  last_request_at bigint,
  last_refused_at bigint,
  last_refusal text COLLATE "C",
  sources json NOT NULL
);

CREATE TABLE enrolment (
  id text COLLATE "C" PRIMARY KEY,
  agent_id text COLLATE "C",
  uses integer NOT NULL,
  used integer NOT NULL,
  expires_at bigint NOT NULL,
  created_at bigint NOT NULL,
  created_by text COLLATE "C" NOT NULL
);
CREATE INDEX enrolment_by_created ON enrolment (created_at, id);
CREATE INDEX enrolment_by_end ON enrolment (expires_at);

CREATE TABLE watch (
  name text COLLATE "C" PRIMARY KEY,
  every_millis bigint NOT NULL,
  confirm json NOT NULL,
  probe json NOT NULL,
  origin text COLLATE "C" NOT NULL,
  paused_until bigint,
  created_at bigint NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  next_probe_at bigint NOT NULL,
  probed_at bigint,
  status text COLLATE "C",
  output text COLLATE "C",
  counted text COLLATE "C",
  counted_at bigint,
  against integer NOT NULL
);

CREATE TABLE idempotency_key (
  id text COLLATE "C" PRIMARY KEY,
  request_hash text COLLATE "C" NOT NULL,
  acted_at bigint NOT NULL,
  answer text COLLATE "C"
);
CREATE INDEX idempotency_key_by_age ON idempotency_key (acted_at);

CREATE TABLE audit (
  id text COLLATE "C" PRIMARY KEY,
  recorded_at bigint NOT NULL,
  actor text COLLATE "C" NOT NULL,
  via text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  subjects json NOT NULL,
  parameters json,
  request_id text COLLATE "C"
);
CREATE INDEX audit_by_time ON audit (recorded_at, id);
CREATE INDEX audit_by_actor ON audit (actor, recorded_at, id);
CREATE INDEX audit_by_action ON audit (action, recorded_at, id);
CREATE INDEX audit_by_actor_and_action ON audit (actor, action, recorded_at, id);

CREATE TABLE audit_subject (
  subject_id text COLLATE "C" NOT NULL,
  audit_id text COLLATE "C" NOT NULL,
  recorded_at bigint NOT NULL,
  actor text COLLATE "C" NOT NULL,
  action text COLLATE "C" NOT NULL,
  PRIMARY KEY (audit_id, subject_id)
);
CREATE INDEX audit_subject_by_time ON audit_subject (subject_id, recorded_at, audit_id);
CREATE INDEX audit_subject_by_actor ON audit_subject (subject_id, actor, recorded_at, audit_id);
CREATE INDEX audit_subject_by_action ON audit_subject (subject_id, action, recorded_at, audit_id);
CREATE INDEX audit_subject_by_actor_and_action ON audit_subject (subject_id, actor, action, recorded_at, audit_id);

CREATE TABLE silence (
  id text COLLATE "C" PRIMARY KEY,
  matchers json NOT NULL,
  starts_at bigint NOT NULL,
  ends_at bigint NOT NULL,
  comment text COLLATE "C" NOT NULL,
  created_by text COLLATE "C" NOT NULL,
  created_at bigint NOT NULL
);
CREATE INDEX silence_by_created ON silence (created_at, id);
CREATE INDEX silence_by_end ON silence (ends_at);

CREATE TABLE replica (
  id text COLLATE "C" PRIMARY KEY,
  version text COLLATE "C" NOT NULL,
  policy_hash text COLLATE "C" NOT NULL,
  receivers json NOT NULL,
  probes boolean NOT NULL,
  started_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  ended_at bigint
);

CREATE TABLE policy_version (
  version integer PRIMARY KEY,
  hash text COLLATE "C" NOT NULL,
  text text COLLATE "C" NOT NULL,
  applied_at bigint NOT NULL,
  applied_by text COLLATE "C" NOT NULL
);
`
