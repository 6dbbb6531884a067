import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** How incidents ended. Older servers do not say, as before the upgrade. */
export const migration: Migration = {
  id: 12,
  name: "resolutions",
  compatibility: "compatible",
  sql: `
ALTER TABLE incident ADD COLUMN resolution json;
`,
}
