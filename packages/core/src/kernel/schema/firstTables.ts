import { firstIncidentTables, INCIDENT_INDEXES } from "./firstIncidentTables.ts"

/**
 * The columns of the tables that the first migration of both databases makes, in the types of PostgreSQL: each
 * storage names its own. It is text apart from the shapes: a released migration must not change when a shape
 * does (docs/decisions/0024). Columns that change often come first, long texts last.
 */
export const firstTables: Readonly<Record<string, string>> = {
  agent: `
  agent_id text PRIMARY KEY,
  registration_id uuid NOT NULL,
  admission_state text NOT NULL CHECK (admission_state IN ('pending', 'accepted')),
  observed_at bigint NOT NULL,
  last_seen_at bigint NOT NULL,
  registered_at bigint NOT NULL,
  checks_ok integer NOT NULL,
  checks_warning integer NOT NULL,
  checks_critical integer NOT NULL,
  checks_unknown integer NOT NULL,
  key_fingerprint text NOT NULL,
  accepted_key_hash text,
  pending_key_hash text,
  heartbeat_incident_id text,
  hostname text NOT NULL,
  features json NOT NULL,
  labels json,
  reachable_from bigint`,
  agent_key: `
  key_hash text PRIMARY KEY,
  key_fingerprint text NOT NULL,
  agent_id text NOT NULL,
  state text NOT NULL CHECK (state IN ('pending', 'accepted', 'superseded', 'blocked')),
  created_at bigint NOT NULL,
  last_seen_at bigint NOT NULL,
  blacklist_id text,
  blocked_at bigint,
  hostname text,
  CHECK ((state = 'blocked') = (blacklist_id IS NOT NULL AND blocked_at IS NOT NULL AND hostname IS NOT NULL))`,
  check_state: `
  agent_id text NOT NULL,
  check_id text NOT NULL,
  registration_id uuid NOT NULL,
  status text NOT NULL CHECK (status IN ('ok', 'warning', 'critical', 'unknown')),
  exit_code bigint NOT NULL,
  last_observed_at bigint NOT NULL,
  received_at bigint NOT NULL,
  incident_id text,
  incident_key text,
  seen_event_ids json NOT NULL,
  summary text,
  overdue_incident_id text,
  declaration text,
  PRIMARY KEY (agent_id, check_id, registration_id)`,
  check_event: `
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  agent_id text NOT NULL,
  registration_id uuid NOT NULL,
  check_id text NOT NULL,
  event_id uuid NOT NULL,
  observed_at bigint NOT NULL,
  received_at bigint NOT NULL,
  status text NOT NULL CHECK (status IN ('ok', 'warning', 'critical', 'unknown')),
  exit_code bigint NOT NULL,
  duration_ms bigint NOT NULL,
  output_truncated boolean NOT NULL,
  notifications_enabled boolean NOT NULL,
  is_kept boolean NOT NULL DEFAULT false,
  incident_key text,
  output text,
  UNIQUE (agent_id, event_id, registration_id)`,
  expectation: `
  agent_id text NOT NULL,
  check_id text NOT NULL,
  registration_id uuid NOT NULL,
  origin text NOT NULL,
  expected_from bigint NOT NULL,
  next_evaluation_at bigint,
  incident_id text,
  terms json,
  labels json,
  labelled_at bigint,
  PRIMARY KEY (agent_id, check_id, registration_id),
  CHECK ((next_evaluation_at IS NULL AND incident_id IS NULL) = (terms IS NULL))`,
  removed_registration: `
  registration_id uuid PRIMARY KEY,
  agent_id text NOT NULL`,
  service_heartbeat: `
  name text PRIMARY KEY,
  beat_at bigint NOT NULL,
  outage_ended_at bigint,
  outage_began_at bigint`,
  established: `
  name text PRIMARY KEY,
  value text NOT NULL`,
  ...firstIncidentTables,
  operator: `
  name text PRIMARY KEY,
  role text NOT NULL,
  token_hash text NOT NULL,
  former_token_hash text,
  former_valid_until bigint,
  created_at bigint NOT NULL,
  created_by text NOT NULL,
  expires_at bigint,
  last_used_at bigint`,
  integration: `
  name text PRIMARY KEY,
  kind text NOT NULL,
  options json NOT NULL,
  key_hash text,
  former_key_hash text,
  former_valid_until bigint,
  created_at bigint NOT NULL,
  created_by text NOT NULL,
  last_request_at bigint,
  last_refused_at bigint,
  last_refusal text,
  sources json NOT NULL`,
  enrolment: `
  id text PRIMARY KEY,
  agent_id text,
  uses integer NOT NULL,
  used integer NOT NULL,
  expires_at bigint NOT NULL,
  created_at bigint NOT NULL,
  created_by text NOT NULL`,
  watch: `
  name text PRIMARY KEY,
  every_millis bigint NOT NULL,
  confirm json NOT NULL,
  probe json NOT NULL,
  origin text NOT NULL,
  paused_until bigint,
  created_at bigint NOT NULL,
  created_by text NOT NULL,
  next_probe_at bigint NOT NULL,
  probed_at bigint,
  status text,
  output text,
  counted text,
  counted_at bigint,
  against integer NOT NULL`,
  idempotency_key: `
  id text PRIMARY KEY,
  request_hash text NOT NULL,
  acted_at bigint NOT NULL,
  answer text`,
  audit: `
  id text PRIMARY KEY,
  recorded_at bigint NOT NULL,
  actor text NOT NULL,
  via text NOT NULL,
  action text NOT NULL,
  subjects json NOT NULL,
  parameters json,
  request_id text`,
  audit_subject: `
  subject_id text NOT NULL,
  audit_id text NOT NULL,
  recorded_at bigint NOT NULL,
  actor text NOT NULL,
  action text NOT NULL,
  PRIMARY KEY (audit_id, subject_id)`,
  silence: `
  id text PRIMARY KEY,
  matchers json NOT NULL,
  starts_at bigint NOT NULL,
  ends_at bigint NOT NULL,
  comment text NOT NULL,
  created_by text NOT NULL,
  created_at bigint NOT NULL`,
  replica: `
  id text PRIMARY KEY,
  version text NOT NULL,
  policy_hash text NOT NULL,
  receivers json NOT NULL,
  probes boolean NOT NULL,
  started_at bigint NOT NULL,
  seen_at bigint NOT NULL,
  ended_at bigint`,
  policy_version: `
  version integer PRIMARY KEY,
  hash text NOT NULL,
  text text NOT NULL,
  applied_at bigint NOT NULL,
  applied_by text NOT NULL`,
  system_total: `
  writer smallint PRIMARY KEY,
  agents_accepted bigint NOT NULL DEFAULT 0,
  agents_pending bigint NOT NULL DEFAULT 0,
  agents_dead bigint NOT NULL DEFAULT 0,
  acceptances bigint NOT NULL DEFAULT 0,
  checks_ok bigint NOT NULL DEFAULT 0,
  checks_warning bigint NOT NULL DEFAULT 0,
  checks_critical bigint NOT NULL DEFAULT 0,
  checks_unknown bigint NOT NULL DEFAULT 0,
  incidents_open bigint NOT NULL DEFAULT 0`,
}

/** The indexes that are the same in both databases. */
export const FIRST_INDEXES = `
CREATE INDEX agent_pending ON agent (agent_id) WHERE admission_state = 'pending';
CREATE INDEX agent_by_hostname ON agent (hostname);
CREATE INDEX agent_with_pending_key ON agent (agent_id) WHERE pending_key_hash IS NOT NULL;
CREATE INDEX agent_key_of_agent ON agent_key (agent_id) WHERE blacklist_id IS NULL;
CREATE UNIQUE INDEX agent_key_blacklist_id ON agent_key (blacklist_id) WHERE state = 'blocked';
CREATE INDEX agent_key_blocked ON agent_key (blocked_at, blacklist_id) WHERE state = 'blocked';
CREATE INDEX check_state_not_ok ON check_state (agent_id, check_id) WHERE status <> 'ok';
CREATE INDEX expectation_by_next_evaluation ON expectation (next_evaluation_at, agent_id, check_id, registration_id)
WHERE next_evaluation_at IS NOT NULL;
CREATE INDEX expectation_overdue ON expectation (agent_id, check_id) WHERE incident_id IS NOT NULL;
CREATE UNIQUE INDEX operator_by_token ON operator (token_hash);
CREATE INDEX operator_by_former_token ON operator (former_token_hash) WHERE former_token_hash IS NOT NULL;
CREATE INDEX enrolment_by_created ON enrolment (created_at, id);
CREATE INDEX enrolment_by_end ON enrolment (expires_at);
CREATE INDEX idempotency_key_by_age ON idempotency_key (acted_at);
CREATE INDEX audit_by_time ON audit (recorded_at, id);
CREATE INDEX audit_by_actor ON audit (actor, recorded_at, id);
CREATE INDEX audit_by_action ON audit (action, recorded_at, id);
CREATE INDEX audit_by_actor_and_action ON audit (actor, action, recorded_at, id);
CREATE INDEX audit_subject_by_time ON audit_subject (subject_id, recorded_at, audit_id);
CREATE INDEX audit_subject_by_actor ON audit_subject (subject_id, actor, recorded_at, audit_id);
CREATE INDEX audit_subject_by_action ON audit_subject (subject_id, action, recorded_at, audit_id);
CREATE INDEX audit_subject_by_actor_and_action ON audit_subject (subject_id, actor, action, recorded_at, audit_id);
CREATE INDEX silence_by_created ON silence (created_at, id);
CREATE INDEX silence_by_end ON silence (ends_at);
${INCIDENT_INDEXES}`
