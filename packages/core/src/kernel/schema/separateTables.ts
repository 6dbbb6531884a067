const KEY = "agent_id, check_id, registration_id"

const CHECK = `agent_id text NOT NULL,
  check_id text NOT NULL,
  registration_id uuid NOT NULL,`

/**
 * The tables that the third migration of both databases makes, as `firstTables` has them. One row of `expectation`
 * was the terms of a check, its runs, its log, the lease of an alert and the labels of any check.
 */
export const separateTables: Readonly<Record<string, string>> = {
  announcement: `
  id text PRIMARY KEY,
  page text NOT NULL,
  kind text NOT NULL,
  starts_at bigint NOT NULL,
  ends_at bigint,
  ends_order bigint NOT NULL GENERATED ALWAYS AS (coalesce(ends_at, 9223372036854775807)) STORED,
  created_by text NOT NULL,
  created_at bigint NOT NULL,
  title text NOT NULL,
  lines json NOT NULL,
  text text NOT NULL,
  updates json NOT NULL`,
  change_stamp: `
  name text PRIMARY KEY,
  stamp uuid NOT NULL`,
  check_label: `
  ${CHECK}
  labels json NOT NULL,
  labelled_at bigint NOT NULL,
  PRIMARY KEY (${KEY})`,
  expectation: `
  ${CHECK}
  origin text NOT NULL,
  expected_from bigint NOT NULL,
  next_evaluation_at bigint,
  incident_id text,
  running_since bigint,
  alone_due_at bigint,
  terms json NOT NULL,
  PRIMARY KEY (${KEY})`,
  job_run: `
  ${CHECK}
  starts json NOT NULL,
  log text,
  PRIMARY KEY (${KEY})`,
  phone_call: `
  receiver text PRIMARY KEY,
  began_at bigint NOT NULL`,
  receiver_secrets: `
  name text PRIMARY KEY,
  keys json NOT NULL,
  ciphertext text NOT NULL,
  key_id text NOT NULL,
  changed_by text NOT NULL,
  changed_at bigint NOT NULL`,
  identity_name: `
  name text PRIMARY KEY,
  identity text NOT NULL`,
  reported_alert: `
  ${CHECK}
  source text NOT NULL,
  lease_millis bigint,
  next_evaluation_at bigint NOT NULL,
  address text,
  PRIMARY KEY (${KEY})`,
  rota_override: `
  id text PRIMARY KEY,
  rota text NOT NULL,
  receivers json NOT NULL,
  starts_at bigint NOT NULL,
  ends_at bigint NOT NULL,
  note text,
  created_by text NOT NULL,
  created_at bigint NOT NULL`,
  session: `
  id text PRIMARY KEY,
  issuer text NOT NULL,
  identity text NOT NULL,
  name text NOT NULL,
  role text NOT NULL,
  created_at bigint NOT NULL,
  expires_at bigint NOT NULL`,
}

/** Runs, and alerts that nothing repeats, were once due a century later. */
const CENTURY_MILLIS = 3_155_760_000_000n
const NEVER = 4_102_444_800_000_000n

const OF_RUN = `'{"after_millis":3600000,"severity":"unknown","notifications_enabled":true}'`

/** The differences between the SQL of databases. */
interface Dialect {
  /** The column `terms`; of a damaged text, NULL. */
  readonly terms: string
  /** The terms without sources, leases, runs and logs. */
  readonly rest: string
  /** Makes all of `separateTables`. */
  readonly create: string
}

/** Gives each thing that a row of `expectation` meant a row of its table. */
export const splitExpectations = ({ create, rest, terms }: Dialect): string => `
CREATE TABLE former_expectation AS SELECT *,
  ${terms} ->> 'source' AS source,
  CAST(${terms} ->> 'lease_millis' AS bigint) AS lease_millis,
  ${terms} -> 'starts' AS starts,
  ${terms} ->> 'log' AS log,
  coalesce(${terms} ->> 'starts', ${terms} ->> 'log') IS NOT NULL AS has_runs,
  CAST(${terms} -> 'starts' -> 0 ->> 'at' AS bigint) AS since,
  CAST(${terms} ->> 'after_millis' AS bigint) = ${CENTURY_MILLIS} AND ${terms} ->> 'cron' IS NULL AS is_of_run
FROM expectation;
DROP TABLE expectation;
${create}
INSERT INTO check_label SELECT ${KEY}, labels, coalesce(labelled_at, expected_from)
FROM former_expectation WHERE labels IS NOT NULL;

INSERT INTO job_run SELECT ${KEY}, coalesce(starts, '[]'), log FROM former_expectation WHERE has_runs;

INSERT INTO reported_alert SELECT ${KEY}, source, lease_millis,
  CASE WHEN next_evaluation_at < ${NEVER} THEN next_evaluation_at ELSE expected_from END, NULL
FROM former_expectation WHERE source IS NOT NULL;

INSERT INTO expectation (${KEY}, origin, expected_from, next_evaluation_at, incident_id, running_since, terms)
SELECT ${KEY}, origin, expected_from, next_evaluation_at, incident_id, since, terms
FROM former_expectation WHERE terms IS NOT NULL AND source IS NULL AND NOT has_runs
UNION ALL SELECT ${KEY}, 'alert', expected_from, NULL, incident_id, since, ${rest}
FROM former_expectation WHERE source IS NOT NULL AND lease_millis IS NOT NULL
UNION ALL SELECT ${KEY}, 'run', since, next_evaluation_at, incident_id, since, ${OF_RUN}
FROM former_expectation WHERE source IS NULL AND has_runs AND is_of_run AND since IS NOT NULL
UNION ALL SELECT ${KEY}, origin, expected_from, next_evaluation_at, incident_id, since, ${rest}
FROM former_expectation WHERE source IS NULL AND has_runs AND is_of_run IS NOT TRUE;

DROP TABLE former_expectation;
CREATE INDEX expectation_by_next_evaluation ON expectation (next_evaluation_at, ${KEY}) WHERE next_evaluation_at IS NOT NULL;
CREATE INDEX expectation_overdue ON expectation (agent_id, check_id) WHERE incident_id IS NOT NULL;
CREATE INDEX reported_alert_by_next_evaluation ON reported_alert (next_evaluation_at, ${KEY});
CREATE INDEX rota_override_by_end ON rota_override (ends_at);
CREATE INDEX announcement_by_end ON announcement (ends_at);
CREATE INDEX announcement_by_end_order ON announcement (ends_order, id);
CREATE INDEX announcement_by_created_at ON announcement (created_at, id);
CREATE INDEX announcement_of_page_by_created_at ON announcement (page, created_at, id);
CREATE INDEX announcement_of_page_by_end ON announcement (page, ends_order, id);
CREATE INDEX session_by_created ON session (created_at, id);
CREATE INDEX session_by_end ON session (expires_at);
CREATE INDEX session_by_identity ON session (identity);
`
