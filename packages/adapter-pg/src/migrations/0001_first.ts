import type { Migration } from "@tocsin/core/ports/Migration"
import { AGENTS } from "./first/agents.ts"
import { INCIDENTS } from "./first/incidents.ts"
import { LISTS } from "./first/lists.ts"
import { PEOPLE } from "./first/people.ts"
import { TOTALS } from "./first/totals.ts"

/**
 * The whole schema of the first version that was published.
 *
 * Each order of a list has one index that can serve it, so that no estimate decides how a page is
 * read. Times are microseconds since 1970. Text is compared bytewise. There are no foreign keys but
 * those of an incident's timeline: the locks of agents and incidents guard their rows, and tables can be
 * distributed.
 */
export const migration: Migration = {
  id: 1,
  name: "first",
  compatibility: "breaking",
  sql: [AGENTS, INCIDENTS, PEOPLE, TOTALS, LISTS].join(""),
}
