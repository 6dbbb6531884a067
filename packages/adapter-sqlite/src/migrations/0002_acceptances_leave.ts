import type { Migration } from "@tocsin/core/kernel/ports/Migration"
import { agentTriggers } from "./0001_first.ts"

/** Nothing asks any more how often agents became accepted. Servers that do must be stopped first. */
export const migration: Migration = {
  id: 2,
  name: "acceptances_leave",
  compatibility: "breaking",
  sql: `
DROP TRIGGER agent_comes;
DROP TRIGGER agent_goes;
DROP TRIGGER agent_counts_otherwise;
ALTER TABLE system_total DROP COLUMN acceptances;
${agentTriggers()}`,
}
