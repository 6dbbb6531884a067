import type { Migration } from "@tocsin/core/ports/Migration"

/** Every receiver of the kind `alert_router` has alerts; `alert` stays for the one of that name. */
export const migration: Migration = {
  id: 13,
  name: "receiver_alerts",
  compatibility: "compatible",
  sql: `
CREATE TABLE receiver_alert (
  receiver text COLLATE "C" NOT NULL,
  incident_id text COLLATE "C" NOT NULL,
  severity text COLLATE "C" NOT NULL CHECK (severity IN ('warning', 'critical', 'unknown')),
  next_at bigint NOT NULL,
  ended_at bigint,
  leased_until bigint,
  PRIMARY KEY (incident_id, receiver, severity)
) WITH (fillfactor = 70);

CREATE INDEX receiver_alert_due ON receiver_alert (receiver, next_at);
CREATE INDEX receiver_alert_leased ON receiver_alert (receiver, leased_until) WHERE leased_until IS NOT NULL;
`,
}
