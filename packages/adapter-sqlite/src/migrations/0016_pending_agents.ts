import type { Migration } from "@tocsin/core/ports/Migration"

/** The number of pending agents in the running totals: every registration reads it. */
export const migration: Migration = {
  id: 16,
  name: "pending_agents",
  compatibility: "compatible",
  sql: `
ALTER TABLE system_total ADD COLUMN agents_pending INTEGER NOT NULL DEFAULT 0;

CREATE TRIGGER pending_agent_comes AFTER INSERT ON agent WHEN NEW.admission_state = 'pending' BEGIN
  UPDATE system_total SET agents_pending = agents_pending + 1;
END;

CREATE TRIGGER pending_agent_changes AFTER UPDATE OF admission_state ON agent
WHEN OLD.admission_state IS NOT NEW.admission_state
BEGIN
  UPDATE system_total
  SET agents_pending = agents_pending + (NEW.admission_state = 'pending') - (OLD.admission_state = 'pending');
END;

CREATE TRIGGER pending_agent_goes AFTER DELETE ON agent WHEN OLD.admission_state = 'pending' BEGIN
  UPDATE system_total SET agents_pending = agents_pending - 1;
END;

UPDATE system_total SET agents_pending = (SELECT count(*) FROM agent WHERE admission_state = 'pending');
`,
}
