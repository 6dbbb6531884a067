import type { Migration } from "@tocsin/core/kernel/ports/Migration"
import { RESOLVED_INDEXES } from "@tocsin/core/kernel/schema/resolvedIncidents"

/** Open incidents leave the indexes of what an agent or a check opened. Older servers list these more slowly. */
export const migration: Migration = {
  id: 8,
  name: "resolved_incidents",
  compatibility: "compatible",
  sql: RESOLVED_INDEXES,
}
