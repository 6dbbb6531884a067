import type { ListFilters, ListName, ListQuery, ListRows } from "@tocsin/core/model/ListDefinitions"
import type { Storage, StorageError } from "@tocsin/core/ports/Storage"
import type { Effect } from "effect"

const defaults: { readonly [L in ListName]: ListQuery<L> } = {
  agents: { list: "agents", filter: {}, sort: "agent_id", direction: "asc" },
  checks: { list: "checks", filter: {}, sort: "agent_id", direction: "asc" },
  overdue: { list: "overdue", filter: {}, sort: "agent_id", direction: "asc" },
  history: { list: "history", filter: {}, sort: "stored", direction: "desc" },
  incidents: { list: "incidents", filter: {}, sort: "status", direction: "desc" },
  outbox: { list: "outbox", filter: {}, sort: "updated_at", direction: "desc" },
  blacklist: { list: "blacklist", filter: {}, sort: "stored", direction: "desc" },
  integrations: { list: "integrations", filter: {}, sort: "name", direction: "asc" },
  enrolments: { list: "enrolments", filter: {}, sort: "created_at", direction: "desc" },
  watches: { list: "watches", filter: {}, sort: "name", direction: "asc" },
  operators: { list: "operators", filter: {}, sort: "name", direction: "asc" },
  audit: { list: "audit", filter: {}, sort: "recorded_at", direction: "desc" },
  silences: { list: "silences", filter: {}, sort: "created_at", direction: "desc" },
}

/** More than any test stores. */
const EVERYTHING = 1_000_000

/** The names of all lists. */
// Object.keys has lost the type of the names.
export const LISTS = Object.keys(defaults) as ReadonlyArray<ListName>

/** All rows of a list that a filter leaves, in the list's usual order. */
export const rowsOf = <L extends ListName>(
  { storage }: { readonly storage: Storage["Service"] },
  list: L,
  filter?: ListFilters[L],
): Effect.Effect<ReadonlyArray<ListRows[L]>, StorageError> => {
  const query: ListQuery<L> = defaults[list]
  return storage.page({
    ...query,
    filter: filter ?? query.filter,
    from: undefined,
    isBackward: false,
    limit: EVERYTHING,
  })
}
