import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** The kinds and options that each server knows, so that one of another version is not given what it cannot read. */
export const migration: Migration = {
  id: 13,
  name: "known_names",
  compatibility: "compatible",
  sql: `
ALTER TABLE replica ADD COLUMN known_names TEXT;
`,
}
