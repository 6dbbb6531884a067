import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** Checks that lists of agents have and lack. While an older server is live, no list is taken. */
export const migration: Migration = {
  id: 14,
  name: "withdrawn_checks",
  compatibility: "compatible",
  sql: `
ALTER TABLE agent ADD COLUMN listed_as_of INTEGER;
ALTER TABLE check_state ADD COLUMN withdrawn_at INTEGER;
CREATE INDEX check_state_withdrawn ON check_state (agent_id, check_id) WHERE withdrawn_at IS NOT NULL;
CREATE TABLE listed_check (
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  state TEXT NOT NULL,
  next_evaluation_at INTEGER,
  spans TEXT NOT NULL,
  PRIMARY KEY (agent_id, check_id, registration_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX listed_check_by_next_evaluation
ON listed_check (next_evaluation_at, agent_id, check_id, registration_id) WHERE next_evaluation_at IS NOT NULL;
`,
}
