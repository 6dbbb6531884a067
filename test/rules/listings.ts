import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import type { Page, PageParameters } from "@tocsin/core/kernel/engine/lists/readPage"
import type { ValidationError } from "@tocsin/contract/formats/Errors"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import type { Queries } from "tocsin/internal/layers/Operations"
import { Effect } from "effect"
import { AGENTS } from "./Scenario.ts"

/** A page of a list as the names of its rows, which are another for every row and stay with it. */
export type NamedPage = Page<string>

/** One list with one order and one filter. */
export interface Listing {
  readonly name: string
  /** Whether a row keeps its place in the order for as long as it exists. */
  readonly isSteady: boolean
  readonly read: (
    queries: Queries["Service"],
    parameters: PageParameters,
  ) => Effect.Effect<NamedPage, ValidationError | StorageError>
}

const listing = <Item>(
  name: string,
  read: (
    queries: Queries["Service"],
    parameters: PageParameters,
  ) => Effect.Effect<Page<Item>, ValidationError | StorageError>,
  nameOf: (item: Item) => string,
  isSteady = true,
): Listing => ({
  name,
  isSteady,
  read: (queries, parameters) =>
    Effect.map(read(queries, parameters), (page) => ({ ...page, items: page.items.map(nameOf) })),
})

const [agent] = AGENTS
const agent_id = AgentId.make(agent)
const check_id = CheckId.make("disk")
const idOf = ({ id }: { readonly id: string }): string => id
const checkOf = (check: { readonly agent_id: string; readonly check_id: string }) =>
  `${check.agent_id}/${check.check_id}`

/** Every list in every order, some with filters. */
export const listings: ReadonlyArray<Listing> = [
  listing(
    "agents",
    (queries, paging) => queries.agents(paging),
    (item) => item.agent_id,
  ),
  listing("checks", (queries, paging) => queries.checks(paging), checkOf),
  listing("checks of an agent", (queries, paging) => queries.checks({ ...paging, agent_id }), checkOf),
  listing(
    "history",
    (queries, paging) => queries.history(paging),
    (item) => `${item.agent_id} ${item.event_id}`,
  ),
  listing(
    "history of a check",
    (queries, paging) => queries.history({ ...paging, agent_id, check_id }),
    (item) => `${item.agent_id} ${item.event_id}`,
  ),
  listing("blacklist", (queries, paging) => queries.blacklist(paging), idOf),
  ...(["asc", "desc"] as const).flatMap((direction) => [
    ...(["status", "opened_at", "resolved_at"] as const).map((sort) =>
      listing(
        `incidents by ${sort} ${direction}`,
        (queries, paging) => queries.incidents({ ...paging, sort, direction }),
        idOf,
        sort === "opened_at",
      ),
    ),
    ...(["created_at", "updated_at"] as const).map((sort) =>
      listing(
        `outbox by ${sort} ${direction}`,
        (queries, paging) => queries.outbox({ ...paging, sort, direction }),
        idOf,
        sort === "created_at",
      ),
    ),
  ]),
]
