import type { Migration } from "@tocsin/core/ports/Migration"
import { AGENTS } from "./first/agents.ts"
import { INCIDENTS } from "./first/incidents.ts"
import { LISTS } from "./first/lists.ts"
import { PEOPLE } from "./first/people.ts"
import { TOTALS } from "./first/totals.ts"

/** The whole schema of the first version that was published. Times are microseconds since 1970. */
export const migration: Migration = {
  id: 1,
  name: "first",
  compatibility: "breaking",
  sql: [AGENTS, INCIDENTS, PEOPLE, TOTALS, LISTS].join(""),
}
