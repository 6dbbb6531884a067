import type { Migration } from "@tocsin/core/ports/Migration"

/** Labels of checks leave the table of expectations, in which terms are then never absent. */
export const migration: Migration = {
  id: 8,
  name: "check_labels",
  compatibility: "breaking",
  sql: `
CREATE TABLE check_label (
  agent_id text COLLATE "C" NOT NULL,
  check_id text COLLATE "C" NOT NULL,
  registration_id uuid NOT NULL,
  labels json NOT NULL,
  labelled_at bigint NOT NULL,
  PRIMARY KEY (agent_id, check_id, registration_id)
) WITH (fillfactor = 70);
CREATE INDEX check_label_by_labels ON check_label USING gin ((labels::jsonb) jsonb_path_ops);

INSERT INTO check_label
SELECT agent_id, check_id, registration_id, labels, coalesce(labelled_at, expected_from)
FROM expectation WHERE labels IS NOT NULL;

DELETE FROM expectation WHERE terms IS NULL;
ALTER TABLE expectation DROP COLUMN labels, DROP COLUMN labelled_at, ALTER COLUMN terms SET NOT NULL;
`,
}
