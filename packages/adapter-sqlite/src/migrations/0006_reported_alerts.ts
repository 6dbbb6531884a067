import type { Migration } from "@tocsin/core/ports/Migration"
import { labelTriggers } from "./0001_first.ts"

const source = "iif(json_valid(terms), json_extract(terms, '$.source'), NULL)"
const lease = "json_extract(terms, '$.lease_millis')"

/** Alerts that nothing repeats were once due a century later, and never forgotten: they are looked at again. */
const NEVER = 4_102_444_800_000_000n

/**
 * Alerts leave the table of expectations: their sources, leases and looks have a table, and only an alert that
 * its source repeats has an expectation. SQLite changes the constraints of a table by making another.
 */
export const migration: Migration = {
  id: 6,
  name: "reported_alerts",
  compatibility: "breaking",
  sql: `
CREATE TABLE reported_alert (
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  source TEXT NOT NULL,
  lease_millis INTEGER,
  next_evaluation_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, check_id, registration_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX reported_alert_by_next_evaluation ON reported_alert (next_evaluation_at, agent_id, check_id, registration_id);

INSERT INTO reported_alert
SELECT agent_id, check_id, registration_id, ${source}, ${lease},
  CASE WHEN next_evaluation_at < ${NEVER} THEN next_evaluation_at ELSE expected_from END
FROM expectation WHERE ${source} IS NOT NULL;

CREATE TABLE other_expectation (
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

INSERT INTO other_expectation
SELECT agent_id, check_id, registration_id, origin, expected_from, next_evaluation_at, incident_id, terms, labels, labelled_at
FROM expectation WHERE ${source} IS NULL
UNION ALL
SELECT agent_id, check_id, registration_id, 'alert', expected_from, NULL, incident_id,
  iif(${lease} IS NULL, NULL, json_remove(terms, '$.source', '$.lease_millis')), labels, labelled_at
FROM expectation WHERE ${source} IS NOT NULL AND (${lease} IS NOT NULL OR labels IS NOT NULL);

DROP TABLE expectation;
ALTER TABLE other_expectation RENAME TO expectation;
CREATE INDEX expectation_by_next_evaluation ON expectation (next_evaluation_at, agent_id, check_id, registration_id)
WHERE next_evaluation_at IS NOT NULL;
CREATE INDEX expectation_overdue ON expectation (agent_id, check_id) WHERE incident_id IS NOT NULL;
${labelTriggers("expectation")}`,
}
