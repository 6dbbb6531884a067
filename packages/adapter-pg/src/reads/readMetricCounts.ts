import type { Instant } from "@tocsin/contract/Instant"
import { NotificationType, type NotifierName } from "@tocsin/contract/Status"
import {
  AGED_ITEMS,
  type Backlog,
  BACKLOG_STATES,
  type BacklogState,
  CENSUS_LIMIT,
  type MetricCounts,
  sortBacklog,
} from "@tocsin/core/ports/StorageCounts"
import { SEVERITY_RANK } from "@tocsin/core/model/MemberRecord"
import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { notifiersOf } from "../lists/selections.ts"
import { read } from "./read.ts"

const COUNT_UP_TO = `LIMIT ${CENSUS_LIMIT}`

const openOf = (severity: keyof typeof SEVERITY_RANK): string =>
  `(SELECT count(*) FROM (SELECT FROM incident
      WHERE phase IN (1, 2) AND severity_rank = ${SEVERITY_RANK[severity]} ${COUNT_UP_TO}) AS counted) AS ${severity}`

/** Counts agents, keys and incidents by parts of indexes, or adds up running totals. */
export const findMetricCounts = `SELECT
  (SELECT coalesce(sum(agents_pending), 0)::int8 FROM system_total) AS agents_pending,
  (SELECT coalesce(sum(agents_dead), 0)::int8 FROM system_total) AS agents_dead,
  (SELECT count(*) FROM (SELECT FROM agent_key WHERE state = 'blocked' ${COUNT_UP_TO}) AS counted) AS keys_blocked,
  ${openOf("warning")}, ${openOf("critical")}, ${openOf("unknown")}`

/**
 * Counts items that wait for their receivers or for an operator, by states and notifiers, and finds
 * the oldest: bounded parts of one index. Held items are in a part of their own.
 */
export const findBacklog = {
  text: `SELECT of_state.state, of_notifier.notifier,
      (SELECT count(*) FROM (SELECT FROM outbox AS o
        WHERE o.listed_state = of_state.state AND o.notifier = of_notifier.notifier
        ORDER BY o.event_type, o.created_at ${COUNT_UP_TO}) AS counted) AS items,
      (SELECT min(head.age_starts_at) FROM unnest($2::text[]) AS of_type (event_type) CROSS JOIN LATERAL (
        SELECT o.age_starts_at FROM outbox AS o
        WHERE o.listed_state = of_state.state AND o.notifier = of_notifier.notifier
          AND o.event_type = of_type.event_type
        ORDER BY o.created_at LIMIT ${AGED_ITEMS}
      ) AS head) AS waiting_since
    FROM unnest($1::text[]) AS of_state (state)
    CROSS JOIN LATERAL ${notifiersOf("o.listed_state = of_state.state")} AS of_notifier (notifier)`,
  values: [BACKLOG_STATES, NotificationType.literals],
}

interface BacklogRow {
  readonly state: BacklogState
  readonly notifier: NotifierName
  readonly items: bigint
  /** NULL if the item was sent between two reads. */
  readonly waiting_since: Instant | null
}

const toBacklog = (row: BacklogRow): ReadonlyArray<Backlog> => {
  const { items, waiting_since, ...of } = row
  return waiting_since === null ? [] : [{ ...of, items: Number(items), waiting_since }]
}

/** Counts for metrics; see `Storage.metricCounts`. */
export const readMetricCounts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
): Effect.fn.Return<MetricCounts, SqlError.SqlError> {
  const [row] = yield* read(sql, findMetricCounts, [])
  const backlog = yield* read(sql, findBacklog.text, findBacklog.values)
  return {
    agents_pending: Number(row?.["agents_pending"]),
    agents_dead: Number(row?.["agents_dead"]),
    keys_blocked: Number(row?.["keys_blocked"]),
    incidents: {
      warning: Number(row?.["warning"]),
      critical: Number(row?.["critical"]),
      unknown: Number(row?.["unknown"]),
    },
    // The columns are those of the statement.
    backlog: sortBacklog((backlog as unknown as ReadonlyArray<BacklogRow>).flatMap(toBacklog)),
  }
})
