import type { ListName, ListRows } from "./ListDefinitions.ts"
import { type StoredName, storedTables } from "./StoredTables.ts"
import type { TableShape } from "./TableShape.ts"

/** The table that has the rows of each list. */
const listTables = {
  agents: "agent",
  checks: "check_state",
  overdue: "expectation",
  history: "check_event",
  incidents: "incident",
  outbox: "outbox",
  blacklist: "agent_key",
  operators: "operator",
  integrations: "integration",
  enrolments: "enrolment",
  watches: "watch",
  audit: "audit",
  silences: "silence",
} as const satisfies Record<ListName, StoredName>

// An object has its own names.
export const listNames = Object.keys(listTables) as ReadonlyArray<ListName>

/** The shape of the rows of a list. Blocked keys, of which the blacklist consists, have all columns of keys. */
export const listShape = <L extends ListName>(list: L) =>
  // TypeScript does not relate the declaration to the rows of the list.
  storedTables[listTables[list]] as unknown as TableShape<ListRows[L]>
