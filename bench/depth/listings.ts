import { type ListFilters, type ListName, sortsOf, type ListQuery } from "@tocsin/core/lists/ListDefinitions"
import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import {
  IncidentState,
  NotificationType,
  NotifierKind,
  OutboxState,
  Severity,
} from "@tocsin/contract/formats/Status"

import { start } from "@tocsin/testing/samples"

/**
 * An agent of a seeded storage that has thousands of checks, and a check that nearly all agents
 * have.
 */
const LARGE_AGENT = AgentId.make("agent-0000000")
const COMMON_CHECK = CheckId.make("check-00003")

const maybe = <A>(values: ReadonlyArray<A>): ReadonlyArray<A | undefined> => [undefined, ...values]

/** Every set of filters of each list that has any; IDs exist in a seeded storage. */
const filters: { readonly [L in ListName]?: ReadonlyArray<ListFilters[L]> } = {
  checks: maybe([LARGE_AGENT]).flatMap((agent_id) =>
    maybe(["not_ok", "critical"] as const).map((status) => ({ agent_id, status })),
  ),
  overdue: maybe([LARGE_AGENT]).flatMap((agent_id) =>
    maybe(["not_ok", "critical"] as const).map((status) => ({ agent_id, status })),
  ),
  history: maybe([LARGE_AGENT]).flatMap((agent_id) =>
    maybe([COMMON_CHECK]).map((check_id) => ({ agent_id, check_id })),
  ),
  incidents: [
    ...maybe(IncidentState.literals).flatMap((state) =>
      maybe(Severity.literals).flatMap((severity) =>
        maybe([LARGE_AGENT]).flatMap((agent_id) =>
          maybe([COMMON_CHECK]).map((check_id) => ({ state, severity, agent_id, check_id })),
        ),
      ),
    ),
    ...[true, false].flatMap((acknowledged) =>
      maybe(["critical" as const]).flatMap((severity) =>
        maybe([LARGE_AGENT]).flatMap((agent_id) =>
          maybe([COMMON_CHECK]).map((check_id) => ({
            acknowledged,
            at: start,
            severity,
            agent_id,
            check_id,
          })),
        ),
      ),
    ),
  ],
  outbox: [
    ...maybe(OutboxState.literals).flatMap((state) =>
      maybe(NotifierKind.literals).flatMap((notifier) =>
        maybe(NotificationType.literals).map((event_type) => ({ state, notifier, event_type })),
      ),
    ),
    ...[true, false].flatMap((held) =>
      maybe(["pending" as const]).flatMap((state) =>
        maybe(["debug" as const]).map((notifier) => ({ held, state, notifier })),
      ),
    ),
  ],
}

/** A query of some list, of any. */
export type AnyQuery = { readonly [L in ListName]: ListQuery<L> }[ListName]

const queriesOf = <L extends ListName>(list: L): ReadonlyArray<ListQuery<L>> => {
  // The keys of the list's own orders.
  const sorts = sortsOf(list)
  const ofList: ReadonlyArray<ListFilters[L]> = filters[list] ?? [{}]
  return ofList.flatMap((filter) =>
    sorts.flatMap((sort) =>
      (["asc", "desc"] as const).map((direction) => ({ list, filter, sort, direction })),
    ),
  )
}

const HOUR_MICROS = 3_600_000_000n

/** Incidents between two times, in the orders by time. */
const incidentsBetween = maybe(IncidentState.literals).flatMap((state) =>
  maybe(["critical" as const]).flatMap((severity) =>
    maybe([LARGE_AGENT]).flatMap((agent_id) =>
      (["opened_at", "resolved_at"] as const).flatMap((sort) =>
        (["asc", "desc"] as const).map((direction): ListQuery<"incidents"> => {
          const to = Instant.fromMicros(start + HOUR_MICROS)
          return {
            list: "incidents",
            filter: { state, severity, agent_id, from: start, to },
            sort,
            direction,
          }
        }),
      ),
    ),
  ),
)

/** Each list with each set of filters, in each order, in both directions. */
export const everyQuery: ReadonlyArray<AnyQuery> = [
  ...queriesOf("agents"),
  ...queriesOf("blacklist"),
  ...queriesOf("checks"),
  ...queriesOf("history"),
  ...queriesOf("incidents"),
  ...incidentsBetween,
  ...queriesOf("outbox"),
  ...queriesOf("overdue"),
]

/** A query in a few words: list, filter, order. */
export const nameOf = ({ list, filter, sort, direction }: AnyQuery): string => {
  const narrowed = Object.entries(filter).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  )
  return [list, ...narrowed, `by ${sort} ${direction}`].join(" ")
}
