import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** Titles of checks. Older servers show none, and lose one where they change its labels. */
export const migration: Migration = {
  id: 15,
  name: "titles",
  compatibility: "compatible",
  sql: `
ALTER TABLE check_label ADD COLUMN title TEXT;
ALTER TABLE check_label ADD COLUMN declared_title TEXT;
`,
}
