import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** Checks that mails report, and the last mails of integrations. Older servers know neither, and go on beside it. */
export const migration: Migration = {
  id: 11,
  name: "mails",
  compatibility: "compatible",
  sql: `
CREATE TABLE mailed_check (
  agent_id text COLLATE "C" NOT NULL,
  check_id text COLLATE "C" NOT NULL,
  registration_id uuid NOT NULL,
  is_by_subject boolean NOT NULL,
  sender text COLLATE "C" NOT NULL,
  sent_at bigint,
  next_evaluation_at bigint NOT NULL,
  PRIMARY KEY (agent_id, check_id, registration_id)
) WITH (fillfactor = 70);
CREATE INDEX mailed_check_by_next_evaluation
ON mailed_check (next_evaluation_at, agent_id, check_id, registration_id);
CREATE TABLE kept_mail (
  id text COLLATE "C" PRIMARY KEY,
  integration text COLLATE "C" NOT NULL,
  received_at bigint NOT NULL,
  sender text COLLATE "C" NOT NULL,
  subject text COLLATE "C" NOT NULL,
  outcome text COLLATE "C" NOT NULL,
  decided_by text COLLATE "C" NOT NULL,
  check_id text COLLATE "C",
  status text COLLATE "C",
  reason text COLLATE "C",
  mail json NOT NULL
);
CREATE INDEX kept_mail_by_integration ON kept_mail (integration);
CREATE INDEX kept_mail_by_received ON kept_mail (received_at);
`,
}
