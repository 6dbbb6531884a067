import type { Migration } from "@tocsin/core/ports/Migration"

/** Servers of this version sign the mark, so that one of an older version shows. */
export const migration: Migration = {
  id: 13,
  name: "signed_marks",
  compatibility: "breaking",
  sql: `
ALTER TABLE mark ADD COLUMN signed_at INTEGER;
ALTER TABLE mark ADD COLUMN older_seen_at INTEGER;
`,
}
