import type { Migration } from "@tocsin/core/ports/Migration"

/**
 * Checks that must report. A check and an agent of the previous version have none of the new
 * values, which stands for a contact that has lasted, and for a check that is not overdue. A server
 * of the previous version would leave a check overdue, so none becomes overdue while it runs.
 */
export const migration: Migration = {
  id: 7,
  name: "expectations",
  compatibility: "compatible",
  sql: `
ALTER TABLE agent ADD COLUMN contact_from bigint;
ALTER TABLE check_state ADD COLUMN stale_incident_id text COLLATE "C";

CREATE TABLE expectation (
  agent_id text COLLATE "C" NOT NULL,
  check_id text COLLATE "C" NOT NULL,
  registration_id uuid NOT NULL,
  origin text COLLATE "C" NOT NULL,
  expected_from bigint NOT NULL,
  look_at bigint,
  incident_id text COLLATE "C",
  terms json NOT NULL,
  PRIMARY KEY (agent_id, check_id, registration_id),
  CHECK ((look_at IS NULL) = (incident_id IS NOT NULL))
) WITH (fillfactor = 70);

CREATE INDEX expectation_to_look_at ON expectation (look_at, agent_id, check_id, registration_id)
WHERE look_at IS NOT NULL;
CREATE INDEX expectation_overdue ON expectation (agent_id, check_id) WHERE incident_id IS NOT NULL;
`,
}
