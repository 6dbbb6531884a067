import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** Which members of incidents joined because they were late. Older servers do not say, as before the upgrade. */
export const migration: Migration = {
  id: 9,
  name: "late_checks",
  compatibility: "compatible",
  sql: `
ALTER TABLE incident_change ADD COLUMN is_late INTEGER;
`,
}
