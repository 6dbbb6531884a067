/**
 * Agents, their keys, what their checks reported and must report, and what the service keeps about itself.
 *
 * Tables that every heartbeat or result updates are filled by half, and no index contains a column that
 * these change, so that the new version of a row stays in its page (HOT).
 */
export const AGENTS = `
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
  checks_unknown integer NOT NULL,
  reachable_from bigint
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

CREATE INDEX agent_key_of_agent ON agent_key (agent_id) WHERE blacklist_id IS NULL;
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
  overdue_incident_id text COLLATE "C",
  declaration text COLLATE "C",
  PRIMARY KEY (agent_id, check_id, registration_id)
) WITH (fillfactor = 50);

CREATE INDEX check_state_not_ok ON check_state (agent_id, check_id) WHERE status <> 'ok';

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

CREATE TABLE expectation (
  agent_id text COLLATE "C" NOT NULL,
  check_id text COLLATE "C" NOT NULL,
  registration_id uuid NOT NULL,
  origin text COLLATE "C" NOT NULL,
  expected_from bigint NOT NULL,
  next_evaluation_at bigint,
  incident_id text COLLATE "C",
  terms json,
  labels json,
  labelled_at bigint,
  PRIMARY KEY (agent_id, check_id, registration_id),
  CHECK ((num_nonnulls(next_evaluation_at, incident_id) = 0) = (terms IS NULL))
) WITH (fillfactor = 70);

CREATE INDEX expectation_by_next_evaluation ON expectation (next_evaluation_at, agent_id, check_id, registration_id)
WHERE next_evaluation_at IS NOT NULL;
CREATE INDEX expectation_overdue ON expectation (agent_id, check_id) WHERE incident_id IS NOT NULL;

CREATE TABLE service_heartbeat (
  name text COLLATE "C" PRIMARY KEY,
  beat_at bigint NOT NULL,
  outage_ended_at bigint,
  outage_began_at bigint
) WITH (fillfactor = 50);

CREATE TABLE removed_registration (
  registration_id uuid PRIMARY KEY,
  agent_id text COLLATE "C" NOT NULL
);

CREATE TABLE established (
  name text COLLATE "C" PRIMARY KEY,
  value text COLLATE "C" NOT NULL
);
`
