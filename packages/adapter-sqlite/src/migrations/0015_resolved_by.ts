import type { Migration } from "@tocsin/core/ports/Migration"

/** Incidents know how their last member left; those that an older version resolves count as by an event. */
export const migration: Migration = {
  id: 15,
  name: "resolved_by",
  compatibility: "compatible",
  sql: `
ALTER TABLE incident ADD COLUMN resolved_by TEXT;
`,
}
