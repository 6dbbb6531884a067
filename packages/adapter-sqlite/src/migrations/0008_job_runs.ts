import type { Migration } from "@tocsin/core/ports/Migration"

/** Whether terms are an object with runs or a log; a text that is no JSON has neither. */
const hasRuns = `iif(json_valid(terms), coalesce(terms -> '$.starts', terms -> '$.log') IS NOT NULL, FALSE)`
const since = "json_extract(terms, '$.starts[0].at')"
/** Whether terms expect nothing but the ends of runs: they ended after a century. */
const isOfRun = "(terms ->> '$.after_millis' = 3155760000000 AND terms -> '$.cron' IS NULL)"

/** Runs that have begun, and logs, leave the terms of expectations. */
export const migration: Migration = {
  id: 8,
  name: "job_runs",
  compatibility: "breaking",
  sql: `
CREATE TABLE job_run (
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  starts TEXT NOT NULL,
  log TEXT,
  PRIMARY KEY (agent_id, check_id, registration_id)
) STRICT, WITHOUT ROWID;

INSERT INTO job_run
SELECT agent_id, check_id, registration_id, coalesce(terms -> '$.starts', '[]'), terms ->> '$.log'
FROM expectation WHERE ${hasRuns};

ALTER TABLE expectation ADD COLUMN running_since INTEGER;
DELETE FROM expectation WHERE ${hasRuns} AND ${isOfRun} AND ${since} IS NULL AND labels IS NULL;
UPDATE expectation SET terms = NULL, next_evaluation_at = NULL
WHERE ${hasRuns} AND ${isOfRun} AND ${since} IS NULL;
UPDATE expectation SET running_since = ${since}, expected_from = ${since}, origin = 'run',
  terms = '{"after_millis":3600000,"severity":"unknown","notifications_enabled":true}'
WHERE ${hasRuns} AND ${isOfRun};
UPDATE expectation SET running_since = ${since}, terms = json_remove(terms, '$.starts', '$.log') WHERE ${hasRuns};
`,
}
