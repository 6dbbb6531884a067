import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** Header fields of watches, encrypted. A server with the key encrypts those in clear once no earlier version runs. */
export const migration: Migration = {
  id: 5,
  name: "watch_headers",
  compatibility: "compatible",
  sql: "ALTER TABLE watch ADD COLUMN headers json;",
}
