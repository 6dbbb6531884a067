import { discardReasons } from "@tocsin/core/model/discardReasons"
import type { Migration } from "@tocsin/core/ports/Migration"

/** Servers that discard items without a reason must be stopped first. */
export const migration: Migration = {
  id: 3,
  name: "discard_reasons",
  compatibility: "breaking",
  sql: discardReasons('text COLLATE "C"'),
}
