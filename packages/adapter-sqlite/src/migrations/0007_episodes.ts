import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/**
 * The severities that an incident forgets, when its steps begin, and why firings come. One above the announced severity counts as left at
 * the upgrade: then the service last left its heartbeat. Older servers leave all of it as it is.
 */
export const migration: Migration = {
  id: 7,
  name: "episodes",
  compatibility: "compatible",
  sql: `
ALTER TABLE incident ADD COLUMN left_unknown_at INTEGER;
ALTER TABLE incident ADD COLUMN left_critical_at INTEGER;
ALTER TABLE incident ADD COLUMN forgotten_unknown_at INTEGER;
ALTER TABLE incident ADD COLUMN forgotten_critical_at INTEGER;
ALTER TABLE incident ADD COLUMN steps_began_at INTEGER;
ALTER TABLE outbox ADD COLUMN why TEXT;
ALTER TABLE outbox ADD COLUMN repaired_by TEXT;
ALTER TABLE outbox ADD COLUMN called_with TEXT;
UPDATE incident SET left_critical_at = (SELECT beat_at FROM service_heartbeat)
WHERE state = 'open' AND announced IN ('warning', 'unknown');
UPDATE incident SET left_unknown_at = (SELECT beat_at FROM service_heartbeat)
WHERE state = 'open' AND announced = 'warning';
`,
}
