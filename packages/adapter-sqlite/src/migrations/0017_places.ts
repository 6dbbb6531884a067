import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** Agents that probe watches. While an older server is live, no watch has another place than the service. */
export const migration: Migration = {
  id: 17,
  name: "places",
  compatibility: "compatible",
  sql: `
ALTER TABLE watch ADD COLUMN places TEXT;
ALTER TABLE watch ADD COLUMN labels TEXT;
ALTER TABLE check_state ADD COLUMN is_of_place INTEGER;
CREATE INDEX check_state_of_place ON check_state (agent_id, check_id) WHERE is_of_place IS NOT NULL;
CREATE TABLE place (
  agent_id TEXT NOT NULL PRIMARY KEY,
  asked_at INTEGER NOT NULL,
  leaving TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`,
}
