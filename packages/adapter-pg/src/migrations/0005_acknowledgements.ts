import type { Migration } from "@tocsin/core/ports/Migration"

/**
 * Acknowledgements and notes, members that remember whether they notify, and held notifications,
 * which have an index of their own: those that wait for a receiver are found and counted without
 * passing over them.
 */
export const migration: Migration = {
  id: 5,
  name: "acknowledgements",
  compatibility: "compatible",
  sql: `
ALTER TABLE incident
  ADD COLUMN ack_by text COLLATE "C",
  ADD COLUMN ack_note text COLLATE "C",
  ADD COLUMN ack_at bigint,
  ADD COLUMN ack_until bigint,
  ADD COLUMN ack_severity text COLLATE "C",
  ADD COLUMN acts integer NOT NULL DEFAULT 0;
ALTER TABLE incident_member ADD COLUMN is_loud boolean NOT NULL DEFAULT true;
CREATE TABLE incident_act (
  incident_id text COLLATE "C" NOT NULL REFERENCES incident ON DELETE CASCADE,
  seq integer NOT NULL,
  acted_at bigint NOT NULL,
  act text COLLATE "C" NOT NULL,
  actor text COLLATE "C" NOT NULL,
  text text COLLATE "C",
  ack_until bigint,
  severity text COLLATE "C",
  PRIMARY KEY (incident_id, seq)
);
ALTER TABLE outbox
  ADD COLUMN look_at bigint,
  ADD COLUMN released_at bigint;
CREATE INDEX outbox_held ON outbox (look_at) WHERE look_at IS NOT NULL;
CREATE INDEX outbox_waiting ON outbox (notifier, event_type, created_at) WHERE state = 'pending' AND look_at IS NULL;
`,
}
