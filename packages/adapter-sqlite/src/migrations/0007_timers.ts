import type { Migration } from "@tocsin/core/ports/Migration"

/** Incidents know when their timers are due; an index holds only those that have one. */
export const migration: Migration = {
  id: 7,
  name: "timers",
  compatibility: "breaking",
  sql: `
ALTER TABLE incident ADD COLUMN next_look_at INTEGER;
CREATE INDEX incident_by_next_look ON incident (next_look_at) WHERE next_look_at IS NOT NULL AND state = 'open';
`,
}
