import { storedHolds } from "@tocsin/core/model/storedHolds"
import type { Migration } from "@tocsin/core/ports/Migration"

/** Servers that store the names of holds must be stopped first. */
export const migration: Migration = {
  id: 5,
  name: "stored_holds",
  compatibility: "breaking",
  sql: storedHolds({
    json: "TEXT",
    object: "json_object",
    isTrue: "json('true')",
    least: "min",
    names:
      "SELECT value AS name, key AS place FROM json_each(iif(json_valid(outbox.held_by), outbox.held_by, '[]'))",
    list: "json_group_array(json(hold) ORDER BY place)",
  }),
}
