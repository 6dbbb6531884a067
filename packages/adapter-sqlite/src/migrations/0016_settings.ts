import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** Settings that operators change while servers run. Older servers follow their environment alone. */
export const migration: Migration = {
  id: 16,
  name: "settings",
  compatibility: "compatible",
  sql: `
CREATE TABLE setting (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL,
  changed_by TEXT NOT NULL,
  changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`,
}
