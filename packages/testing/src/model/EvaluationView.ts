import type { NotifierKind, OutboxState, Severity } from "@tocsin/contract/formats/Status"
import { type ListName, listNames } from "@tocsin/core/lists/ListDefinitions"
import * as fc from "fast-check"
import { type AgentName, AGENTS, type CheckName, CHECKS } from "./ModelNames.ts"

/** A page of a list, and the direction of the next. */
export interface Look {
  readonly list: ListName
  readonly agent: AgentName | undefined
  readonly check: CheckName | undefined
  readonly severity: Severity | undefined
  readonly isOpen: boolean | undefined
  readonly outbox: OutboxState | undefined
  readonly notifier: NotifierKind | undefined
  readonly isFiring: boolean | undefined
  readonly sort: 0 | 1 | 2
  readonly isAscending: boolean
  /** The sizes of the pages, and whether the next one lies backward. */
  readonly pages: ReadonlyArray<{ readonly limit: number; readonly back: boolean }>
}

const maybe = <A>(arbitrary: fc.Arbitrary<A>): fc.Arbitrary<A | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 2 })

/** Pages of any list. */
export const look: fc.Arbitrary<Look> = fc.record({
  // Incidents have the most filters and orders.
  list: fc.constantFrom<ListName>(...listNames, "incidents"),
  agent: maybe(fc.constantFrom(...AGENTS)),
  check: maybe(fc.constantFrom(...CHECKS)),
  severity: maybe(fc.constantFrom<Severity>("warning", "critical", "unknown")),
  isOpen: maybe(fc.boolean()),
  outbox: maybe(fc.constantFrom<OutboxState>("pending", "sending", "sent", "retry", "failed", "discarded")),
  notifier: maybe(fc.constantFrom<NotifierKind>("debug", "alert_router", "messenger")),
  isFiring: maybe(fc.boolean()),
  sort: fc.constantFrom(0, 1, 2),
  isAscending: fc.boolean(),
  pages: fc.array(fc.record({ limit: fc.integer({ min: 1, max: 4 }), back: fc.boolean() }), {
    minLength: 1,
    maxLength: 8,
  }),
})
