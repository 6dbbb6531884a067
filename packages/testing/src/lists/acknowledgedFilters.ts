import { AgentId, CheckId } from "@tocsin/contract/formats/Identifiers"
import * as Instant from "@tocsin/contract/formats/Instant"
import type { IncidentRecord } from "@tocsin/core/heart/model/IncidentRecord"
import type { ListFilters } from "@tocsin/core/lists/ListDefinitions"
import { ACKNOWLEDGED_UNTIL } from "./population.ts"

/** Filters by acknowledgement, at any moment and around the end of some. */
export const acknowledgedFilters: ReadonlyArray<ListFilters["incidents"]> = [true, false].flatMap(
  (acknowledged) =>
    [
      {},
      { state: "resolved" as const },
      { state: "open" as const },
      { agent_id: AgentId.make("a") },
      { check_id: CheckId.make("disk") },
      { severity: "critical" as const },
    ].flatMap((filter) =>
      // Timers have not dealt with those that ended by then.
      [undefined, ACKNOWLEDGED_UNTIL, Instant.fromMicros(ACKNOWLEDGED_UNTIL - 1n)].map((at) => ({
        ...filter,
        acknowledged,
        at,
      })),
    ),
)

/** Whether an acknowledgement is in force at a moment; not that of a resolved incident. */
export const isAcknowledgedAt = (
  { ack_until, state }: IncidentRecord,
  at: Instant.Instant | undefined,
): boolean => state === "open" && ack_until !== undefined && (at === undefined || at < ack_until)
