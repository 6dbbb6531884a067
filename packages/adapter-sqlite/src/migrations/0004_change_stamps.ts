import type { Migration } from "@tocsin/core/ports/Migration"

/** Passes follow what raises a stamp. Servers that raise none must be stopped first. */
export const migration: Migration = {
  id: 4,
  name: "change_stamps",
  compatibility: "breaking",
  sql: "CREATE TABLE change_stamp (name TEXT PRIMARY KEY, stamp TEXT NOT NULL) STRICT, WITHOUT ROWID",
}
