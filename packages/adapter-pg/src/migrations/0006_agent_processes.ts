import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** The processes that used the key of an agent, and when two were seen to. Older servers leave them as they are. */
export const migration: Migration = {
  id: 6,
  name: "agent_processes",
  compatibility: "compatible",
  sql: `
ALTER TABLE agent ADD COLUMN process text COLLATE "C";
ALTER TABLE agent ADD COLUMN former_processes json;
ALTER TABLE agent ADD COLUMN twice_at bigint;
`,
}
