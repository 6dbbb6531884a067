import type { Migration } from "@tocsin/core/ports/Migration"

const hasRuns = "coalesce(terms ->> 'starts', terms ->> 'log') IS NOT NULL"
const since = "(terms #>> '{starts,0,at}')::bigint"
/** Whether terms expect nothing but the ends of runs: they ended after a century. */
const isOfRun = "(terms ->> 'after_millis' = '3155760000000' AND terms ->> 'cron' IS NULL)"

/** Runs that have begun, and logs, leave the terms of expectations. */
export const migration: Migration = {
  id: 7,
  name: "job_runs",
  compatibility: "breaking",
  sql: `
CREATE TABLE job_run (
  agent_id text COLLATE "C" NOT NULL,
  check_id text COLLATE "C" NOT NULL,
  registration_id uuid NOT NULL,
  starts json NOT NULL,
  log text COLLATE "C",
  PRIMARY KEY (agent_id, check_id, registration_id)
) WITH (fillfactor = 70);

INSERT INTO job_run
SELECT agent_id, check_id, registration_id, coalesce(terms -> 'starts', '[]'), terms ->> 'log'
FROM expectation WHERE ${hasRuns};

ALTER TABLE expectation ADD COLUMN running_since bigint;
DELETE FROM expectation WHERE ${hasRuns} AND ${isOfRun} AND ${since} IS NULL AND labels IS NULL;
UPDATE expectation SET terms = NULL, next_evaluation_at = NULL
WHERE ${hasRuns} AND ${isOfRun} AND ${since} IS NULL;
UPDATE expectation SET running_since = ${since}, expected_from = ${since}, origin = 'run',
  terms = '{"after_millis":3600000,"severity":"unknown","notifications_enabled":true}'
WHERE ${hasRuns} AND ${isOfRun};
UPDATE expectation SET running_since = ${since}, terms = (terms::jsonb - 'starts' - 'log')::json WHERE ${hasRuns};
`,
}
