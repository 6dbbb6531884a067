import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** Agents that probe watches. While an older server is live, no watch has another place than the service. */
export const migration: Migration = {
  id: 17,
  name: "places",
  compatibility: "compatible",
  sql: `
ALTER TABLE watch ADD COLUMN places json;
ALTER TABLE watch ADD COLUMN labels json;
ALTER TABLE check_state ADD COLUMN is_of_place boolean;
CREATE INDEX check_state_of_place ON check_state (agent_id, check_id) WHERE is_of_place IS NOT NULL;
CREATE TABLE place (
  agent_id text COLLATE "C" NOT NULL PRIMARY KEY,
  asked_at bigint NOT NULL,
  leaving json NOT NULL
) WITH (fillfactor = 70);
`,
}
