import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** The minutes of floods. An older server counts its own. */
export const migration: Migration = {
  id: 21,
  name: "flood_minutes",
  compatibility: "compatible",
  sql: `
CREATE TABLE flood_minute (
  receiver TEXT NOT NULL,
  event_type TEXT NOT NULL,
  began_at INTEGER NOT NULL,
  singly TEXT NOT NULL,
  worst TEXT NOT NULL,
  waits INTEGER NOT NULL,
  PRIMARY KEY (receiver, event_type)
) STRICT, WITHOUT ROWID;
`,
}
