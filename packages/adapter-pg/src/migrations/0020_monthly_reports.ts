import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** Reports of a month by mail. Older servers send none. */
export const migration: Migration = {
  id: 20,
  name: "monthly_reports",
  compatibility: "compatible",
  sql: `
CREATE TABLE monthly_report (
  name text COLLATE "C" PRIMARY KEY,
  id text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  due_at bigint NOT NULL,
  attempts integer NOT NULL,
  next_attempt_at bigint,
  recipients json,
  last_error text COLLATE "C"
);
CREATE INDEX monthly_report_by_due ON monthly_report (due_at);
`,
}
