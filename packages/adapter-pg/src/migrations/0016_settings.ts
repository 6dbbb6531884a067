import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** Settings that operators change while servers run. Older servers follow their environment alone. */
export const migration: Migration = {
  id: 16,
  name: "settings",
  compatibility: "compatible",
  sql: `
CREATE TABLE setting (
  name text COLLATE "C" PRIMARY KEY,
  value text COLLATE "C" NOT NULL,
  changed_by text COLLATE "C" NOT NULL,
  changed_at bigint NOT NULL
);
`,
}
