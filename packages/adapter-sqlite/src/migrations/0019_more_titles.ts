import type { Migration } from "@tocsin/core/kernel/ports/Migration"

/** Titles of agents, watches and integrations. Older servers show none. */
export const migration: Migration = {
  id: 19,
  name: "more_titles",
  compatibility: "compatible",
  sql: `
ALTER TABLE agent ADD COLUMN title TEXT;
ALTER TABLE agent ADD COLUMN given_title TEXT;
ALTER TABLE agent ADD COLUMN declared_title TEXT;
ALTER TABLE check_label ADD COLUMN given_title TEXT;
ALTER TABLE watch ADD COLUMN title TEXT;
ALTER TABLE integration ADD COLUMN title TEXT;
`,
}
