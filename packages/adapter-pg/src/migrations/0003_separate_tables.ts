import { fillOutbox } from "@tocsin/core/kernel/schema/formerOutbox"
import { numberSchema } from "@tocsin/core/features/numbers/numberTables"
import { separateTables, splitExpectations } from "@tocsin/core/kernel/schema/separateTables"
import type { Migration } from "@tocsin/core/kernel/ports/Migration"
import { bytewise, tablesOf } from "./0001_first.ts"

const OUTBOX = `
ALTER TABLE outbox ADD COLUMN discarded_because text COLLATE "C", ADD COLUMN holds json, ADD COLUMN rotas json;
${fillOutbox({
  object: "json_build_object",
  isTrue: "true",
  least: "least",
  names: `SELECT one.name, one.place FROM json_array_elements_text(
        CASE json_typeof(held_by) WHEN 'array' THEN held_by ELSE '[]' END
      ) WITH ORDINALITY AS one (name, place)`,
  list: "json_agg(hold ORDER BY place)",
})}
ALTER TABLE outbox DROP COLUMN held_by, DROP COLUMN parent_ended_at, DROP COLUMN first_parent_ended_at;
`

const EXPECTATIONS = splitExpectations({
  terms: "terms",
  rest: "(terms::jsonb - '{source,lease_millis,starts,log}'::text[])::json",
  create: tablesOf(separateTables),
})

const MEMBERS = `
ALTER TABLE incident_member ADD COLUMN is_own boolean;
`

const REPLICAS = `
ALTER TABLE replica ADD COLUMN agent_sha256 text COLLATE "C";
`

/** One row, one meaning; and numbers. Servers that read the former rows must be stopped first. */
export const migration: Migration = {
  id: 3,
  name: "separate_tables",
  compatibility: "breaking",
  sql: `${OUTBOX}${MEMBERS}${REPLICAS}${EXPECTATIONS}
CREATE INDEX check_label_by_labels ON check_label USING gin ((labels::jsonb) jsonb_path_ops);
${bytewise(numberSchema)}`,
}
