import type { Migration } from "@tocsin/core/ports/Migration"

/** Alerts that nothing repeats were once due a century later, and never forgotten: they are looked at again. */
const NEVER = 4_102_444_800_000_000n

/**
 * Alerts leave the table of expectations: their sources, leases and looks have a table, and only an alert that
 * its source repeats has an expectation.
 */
export const migration: Migration = {
  id: 6,
  name: "reported_alerts",
  compatibility: "breaking",
  sql: `
CREATE TABLE reported_alert (
  agent_id text COLLATE "C" NOT NULL,
  check_id text COLLATE "C" NOT NULL,
  registration_id uuid NOT NULL,
  source text COLLATE "C" NOT NULL,
  lease_millis bigint,
  next_evaluation_at bigint NOT NULL,
  PRIMARY KEY (agent_id, check_id, registration_id)
) WITH (fillfactor = 70);
CREATE INDEX reported_alert_by_next_evaluation ON reported_alert (next_evaluation_at, agent_id, check_id, registration_id);

INSERT INTO reported_alert
SELECT agent_id, check_id, registration_id, terms ->> 'source', (terms ->> 'lease_millis')::bigint,
  CASE WHEN next_evaluation_at < ${NEVER} THEN next_evaluation_at ELSE expected_from END
FROM expectation WHERE terms ->> 'source' IS NOT NULL;

ALTER TABLE expectation DROP CONSTRAINT expectation_check;
DELETE FROM expectation
WHERE terms ->> 'source' IS NOT NULL AND terms ->> 'lease_millis' IS NULL AND labels IS NULL;
UPDATE expectation SET origin = 'alert', next_evaluation_at = NULL,
  terms = CASE WHEN terms ->> 'lease_millis' IS NULL THEN NULL
    ELSE (terms::jsonb - 'source' - 'lease_millis')::json END
WHERE terms ->> 'source' IS NOT NULL;
`,
}
