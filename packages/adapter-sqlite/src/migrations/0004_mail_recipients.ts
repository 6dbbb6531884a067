import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** Which recipients of a mail need no further attempt. Older servers try all of them again. */
export const migration: Migration = {
  id: 4,
  name: "mail_recipients",
  compatibility: "compatible",
  sql: "ALTER TABLE outbox ADD COLUMN recipients TEXT;",
}
