import type { Migration } from "@tocsin/core/ports/Migration"
import { labelTriggers } from "./0001_first.ts"

const COLUMNS =
  "agent_id, check_id, registration_id, origin, expected_from, next_evaluation_at, incident_id, running_since, terms"

/** Labels of checks leave the table of expectations, in which terms are then never absent. */
export const migration: Migration = {
  id: 9,
  name: "check_labels",
  compatibility: "breaking",
  sql: `
CREATE TABLE check_label (
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  labels TEXT NOT NULL,
  labelled_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, check_id, registration_id)
) STRICT, WITHOUT ROWID;

INSERT INTO check_label
SELECT agent_id, check_id, registration_id, labels, coalesce(labelled_at, expected_from)
FROM expectation WHERE labels IS NOT NULL;

CREATE TABLE other_expectation (
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  origin TEXT NOT NULL,
  expected_from INTEGER NOT NULL,
  next_evaluation_at INTEGER,
  incident_id TEXT,
  running_since INTEGER,
  terms TEXT NOT NULL,
  PRIMARY KEY (agent_id, check_id, registration_id)
) STRICT, WITHOUT ROWID;

INSERT INTO other_expectation SELECT ${COLUMNS} FROM expectation WHERE terms IS NOT NULL;

DROP TABLE expectation;
ALTER TABLE other_expectation RENAME TO expectation;
CREATE INDEX expectation_by_next_evaluation ON expectation (next_evaluation_at, agent_id, check_id, registration_id)
WHERE next_evaluation_at IS NOT NULL;
CREATE INDEX expectation_overdue ON expectation (agent_id, check_id) WHERE incident_id IS NOT NULL;
${labelTriggers("check_label")}`,
}
