import type { Migration } from "@tocsin/core/ports/Migration"

/**
 * Acknowledgements and notes, members that remember whether they notify, and held notifications,
 * which have an index of their own: those that wait for a receiver are found and counted without
 * passing over them.
 */
export const migration: Migration = {
  id: 6,
  name: "acknowledgements",
  compatibility: "breaking",
  sql: `
ALTER TABLE incident ADD COLUMN ack_by TEXT;
ALTER TABLE incident ADD COLUMN ack_note TEXT;
ALTER TABLE incident ADD COLUMN ack_at INTEGER;
ALTER TABLE incident ADD COLUMN ack_until INTEGER;
ALTER TABLE incident ADD COLUMN ack_severity TEXT;
ALTER TABLE incident ADD COLUMN acts INTEGER NOT NULL DEFAULT 0;
ALTER TABLE incident_member ADD COLUMN is_loud INTEGER NOT NULL DEFAULT 1;
CREATE TABLE incident_act (
  incident_id TEXT NOT NULL REFERENCES incident ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  acted_at INTEGER NOT NULL,
  act TEXT NOT NULL,
  actor TEXT NOT NULL,
  text TEXT,
  ack_until INTEGER,
  severity TEXT,
  PRIMARY KEY (incident_id, seq)
) STRICT, WITHOUT ROWID;
ALTER TABLE outbox ADD COLUMN look_at INTEGER;
ALTER TABLE outbox ADD COLUMN released_at INTEGER;
CREATE INDEX outbox_held ON outbox (look_at) WHERE look_at IS NOT NULL;
CREATE INDEX outbox_waiting ON outbox (notifier, event_type, created_at) WHERE state = 'pending' AND look_at IS NULL;
`,
}
