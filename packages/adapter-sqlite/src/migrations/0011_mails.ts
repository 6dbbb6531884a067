import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** Checks that mails report, and the last mails of integrations. Older servers know neither, and go on beside it. */
export const migration: Migration = {
  id: 11,
  name: "mails",
  compatibility: "compatible",
  sql: `
CREATE TABLE mailed_check (
  agent_id TEXT NOT NULL,
  check_id TEXT NOT NULL,
  registration_id TEXT NOT NULL,
  is_by_subject INTEGER NOT NULL,
  sender TEXT NOT NULL,
  sent_at INTEGER,
  next_evaluation_at INTEGER NOT NULL,
  PRIMARY KEY (agent_id, check_id, registration_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX mailed_check_by_next_evaluation
ON mailed_check (next_evaluation_at, agent_id, check_id, registration_id);
CREATE TABLE kept_mail (
  id TEXT PRIMARY KEY,
  integration TEXT NOT NULL,
  received_at INTEGER NOT NULL,
  sender TEXT NOT NULL,
  subject TEXT NOT NULL,
  outcome TEXT NOT NULL,
  decided_by TEXT NOT NULL,
  check_id TEXT,
  status TEXT,
  reason TEXT,
  mail TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX kept_mail_by_integration ON kept_mail (integration);
CREATE INDEX kept_mail_by_received ON kept_mail (received_at);
`,
}
