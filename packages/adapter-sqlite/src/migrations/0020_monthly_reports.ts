import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** Reports of a month by mail. Older servers send none. */
export const migration: Migration = {
  id: 20,
  name: "monthly_reports",
  compatibility: "compatible",
  sql: `
CREATE TABLE monthly_report (
  name TEXT PRIMARY KEY,
  id TEXT NOT NULL,
  state TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  next_attempt_at INTEGER,
  recipients TEXT,
  last_error TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX monthly_report_by_due ON monthly_report (due_at);
`,
}
