import { storedHolds } from "@tocsin/core/model/storedHolds"
import type { Migration } from "@tocsin/core/ports/Migration"

/** Servers that store the names of holds must be stopped first. */
export const migration: Migration = {
  id: 5,
  name: "stored_holds",
  compatibility: "breaking",
  sql: storedHolds({
    json: "json",
    object: "json_build_object",
    isTrue: "true",
    least: "least",
    names: `SELECT one.name, one.place FROM json_array_elements_text(
        CASE json_typeof(held_by) WHEN 'array' THEN held_by ELSE '[]' END
      ) WITH ORDINALITY AS one (name, place)`,
    list: "json_agg(hold ORDER BY place)",
  }),
}
