import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** The minutes of floods. An older server counts its own. */
export const migration: Migration = {
  id: 21,
  name: "flood_minutes",
  compatibility: "compatible",
  sql: `
CREATE TABLE flood_minute (
  receiver text COLLATE "C" NOT NULL,
  event_type text COLLATE "C" NOT NULL,
  began_at bigint NOT NULL,
  singly json NOT NULL,
  worst text COLLATE "C" NOT NULL,
  waits boolean NOT NULL,
  PRIMARY KEY (receiver, event_type)
);
`,
}
