import type { Migration } from "@tocsin/core/ports/Migration"

/** Servers of this version sign the mark, so that one of an older version shows. */
export const migration: Migration = {
  id: 12,
  name: "signed_marks",
  compatibility: "compatible",
  sql: `
ALTER TABLE mark ADD COLUMN signed_at bigint;
ALTER TABLE mark ADD COLUMN older_seen_at bigint;
`,
}
