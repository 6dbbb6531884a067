import type { Migration } from "@tocsin/core/ports/Migration"

/** Acknowledged incidents are listed without a pass over those that are not. */
export const migration: Migration = {
  id: 8,
  name: "acknowledged_incidents",
  compatibility: "compatible",
  sql: `
CREATE INDEX incident_acknowledged ON incident (opened_at) WHERE ack_until IS NOT NULL AND state = 'open';
`,
}
