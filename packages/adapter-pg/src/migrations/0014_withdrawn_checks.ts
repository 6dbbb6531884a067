import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** Checks that lists of agents have and lack. While an older server is live, no list is taken. */
export const migration: Migration = {
  id: 14,
  name: "withdrawn_checks",
  compatibility: "compatible",
  sql: `
ALTER TABLE agent ADD COLUMN listed_as_of bigint;
ALTER TABLE check_state ADD COLUMN withdrawn_at bigint;
CREATE INDEX check_state_withdrawn ON check_state (agent_id, check_id) WHERE withdrawn_at IS NOT NULL;
CREATE TABLE listed_check (
  agent_id text COLLATE "C" NOT NULL,
  check_id text COLLATE "C" NOT NULL,
  registration_id uuid NOT NULL,
  state text COLLATE "C" NOT NULL,
  next_evaluation_at bigint,
  spans json NOT NULL,
  PRIMARY KEY (agent_id, check_id, registration_id)
) WITH (fillfactor = 70);
CREATE INDEX listed_check_by_next_evaluation
ON listed_check (next_evaluation_at, agent_id, check_id, registration_id) WHERE next_evaluation_at IS NOT NULL;
`,
}
