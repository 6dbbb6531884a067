import type { Migration } from "@tocsin/core/ports/Migration"

/**
 * Checks that must report. A check and an agent of the previous version have none of the new
 * values, which stands for a contact that has lasted, and for a check that is not overdue.
 */
export const migration: Migration = {
  id: 8,
  name: "expectations",
  compatibility: "compatible",
  sql: `
ALTER TABLE agent ADD COLUMN contact_from INTEGER;
ALTER TABLE check_state ADD COLUMN stale_incident_id TEXT;

CREATE TABLE expectation (
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  origin TEXT NOT NULL,
  expected_from INTEGER NOT NULL,
  look_at INTEGER,
  incident_id TEXT,
  terms TEXT NOT NULL,
  PRIMARY KEY (agent_id, check_id, registration_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX expectation_to_look_at ON expectation (look_at, agent_id, check_id, registration_id)
WHERE look_at IS NOT NULL;
CREATE INDEX expectation_overdue ON expectation (agent_id, check_id) WHERE incident_id IS NOT NULL;
`,
}
