import type { Migration } from "@tocsin/core/ports/Migration"

/** Every receiver of the kind `alert_router` has alerts; `alert` stays for the one of that name. */
export const migration: Migration = {
  id: 14,
  name: "receiver_alerts",
  compatibility: "compatible",
  sql: `
CREATE TABLE receiver_alert (
  receiver TEXT NOT NULL,
  incident_id TEXT NOT NULL REFERENCES incident ON DELETE CASCADE,
  severity TEXT NOT NULL,
  next_at INTEGER NOT NULL,
  ended_at INTEGER,
  leased_until INTEGER,
  claimable_order INTEGER NOT NULL AS (max(next_at, coalesce(leased_until, next_at))) STORED,
  PRIMARY KEY (incident_id, receiver, severity)
) STRICT, WITHOUT ROWID;

CREATE INDEX receiver_alert_due ON receiver_alert (receiver, claimable_order);
`,
}
