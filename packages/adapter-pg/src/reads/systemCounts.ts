import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { Instant } from "@tocsin/contract/formats/Instant"
import { read } from "../Database.ts"
import {
  AGED_ITEMS,
  type Backlog,
  BACKLOG_STATES,
  type BacklogState,
  CENSUS_LIMIT,
  type MetricCounts,
  sortBacklog,
  type SummaryCounts,
} from "@tocsin/core/kernel/ports/Storage"
import { NotificationType, type NotifierName, SEVERITY_RANK } from "@tocsin/contract/formats/Status"
import { isOf, notifiersOf } from "../lists/pageStatement.ts"

const sumsOf = (totals: ReadonlyArray<string>): string =>
  totals.map((total) => `coalesce(sum(${total}), 0)::float8 AS ${total}`).join(", ")

/** Adds up the totals, all as numbers. `$1` is how many agents are offline, or since when they are. */
const countsWith = (offline: string): string =>
  `SELECT coalesce(sum(agents_accepted), 0)::float8 - max(offline) AS agents_online, max(offline) AS agents_offline,
          ${sumsOf(["checks_ok", "checks_warning", "checks_critical", "checks_unknown"])},
          coalesce(sum(incidents_open), 0)::float8 AS open_incidents
   FROM (${offline}) AS agents LEFT JOIN system_total ON true`

const addCounts = countsWith("SELECT $1::float8 AS offline")

const findCounts = countsWith(
  "SELECT count(*)::float8 AS offline FROM agent WHERE admission_state = 'accepted' AND last_seen_at <= $1",
)

export const readCounts = (
  sql: SqlClient.SqlClient,
  aliveSince: Instant,
  agentsOffline?: number,
): Effect.Effect<SummaryCounts, SqlError.SqlError> =>
  Effect.map(
    agentsOffline === undefined ? read(sql, findCounts, [aliveSince]) : read(sql, addCounts, [agentsOffline]),
    // One row with the columns of the statement, always.
    ([row]) => row as unknown as SummaryCounts,
  )

const COUNT_UP_TO = `LIMIT ${CENSUS_LIMIT}`

const openOf = (severity: keyof typeof SEVERITY_RANK): string =>
  `(SELECT count(*)::float8 FROM (SELECT FROM incident
      WHERE phase IN (1, 2) AND severity_rank = ${SEVERITY_RANK[severity]} ${COUNT_UP_TO}) AS counted) AS ${severity}`

/** Counts agents, keys and incidents by parts of indexes, or adds up running totals. */
export const findMetricCounts = `SELECT ${sumsOf(["agents_pending", "agents_dead"])},
    (SELECT count(*)::float8 FROM (SELECT FROM agent_key WHERE state = 'blocked' ${COUNT_UP_TO}) AS counted) AS keys_blocked,
    (SELECT count(*)::float8 FROM (SELECT FROM check_state AS r CROSS JOIN LATERAL (SELECT FROM agent AS a
      WHERE a.agent_id = r.agent_id AND a.registration_id = r.registration_id LIMIT 1) AS present
      WHERE r.withdrawn_at IS NOT NULL ORDER BY r.agent_id, r.check_id ${COUNT_UP_TO}) AS counted) AS withdrawn,
    ${openOf("warning")}, ${openOf("critical")}, ${openOf("unknown")}
  FROM system_total`

/** Passes over the index of late checks. A damaged severity is that of terms that cannot be read. */
export const findLate = `SELECT c.status,
    CASE WHEN r.severity IN ('critical', 'unknown') THEN r.severity ELSE 'warning' END AS severity,
    count(*)::float8 AS checks
  FROM (SELECT agent_id, registration_id, check_id, terms ->> 'severity' AS severity FROM expectation
        WHERE incident_id IS NOT NULL ORDER BY agent_id, check_id ${COUNT_UP_TO}) AS r
  CROSS JOIN LATERAL (SELECT FROM agent AS a
    WHERE a.agent_id = r.agent_id AND a.registration_id = r.registration_id LIMIT 1) AS present
  LEFT JOIN LATERAL (SELECT status FROM check_state AS s
    WHERE s.agent_id = r.agent_id AND s.registration_id = r.registration_id AND s.check_id = r.check_id LIMIT 1) AS c
    ON true
  GROUP BY 1, 2`

const findOfPlaces = `SELECT r.status, count(*)::float8 AS checks
  FROM (SELECT agent_id, registration_id, status FROM check_state
    WHERE is_of_place IS NOT NULL ORDER BY agent_id, check_id ${COUNT_UP_TO}) AS r
  CROSS JOIN LATERAL (SELECT FROM agent AS a
    WHERE a.agent_id = r.agent_id AND a.registration_id = r.registration_id LIMIT 1) AS present
  GROUP BY 1`

const IS_OF_HEAD = `${isOf("of_state.state")} AND o.notifier = of_notifier.notifier`

/**
 * Counts items that wait for their receivers or for an operator, by states and notifiers, and finds
 * the oldest: bounded parts of one index, which leaves out the few that are being sent. Held items are in a part of
 * their own.
 */
export const findBacklog = {
  text: `SELECT of_state.state, of_notifier.notifier,
      (SELECT count(*) FROM (SELECT FROM outbox AS o
        WHERE ${IS_OF_HEAD}
        ORDER BY o.event_type, o.created_at ${COUNT_UP_TO}) AS counted) AS items,
      (SELECT min(head.age_starts_at) FROM unnest($2::text[]) AS of_type (event_type) CROSS JOIN LATERAL (
        SELECT o.age_starts_at FROM outbox AS o
        WHERE ${IS_OF_HEAD} AND o.event_type = of_type.event_type
        ORDER BY o.created_at LIMIT ${AGED_ITEMS}
      ) AS head) AS waiting_since
    FROM unnest($1::text[]) AS of_state (state)
    CROSS JOIN LATERAL ${notifiersOf("of_state.state")} AS of_notifier (notifier)
    UNION ALL
    SELECT o.state, o.notifier, count(*), min(o.age_starts_at) FROM (
      SELECT state, notifier, age_starts_at FROM outbox WHERE state = 'sending' ${COUNT_UP_TO}
    ) AS o GROUP BY o.state, o.notifier`,
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

type Counted = Omit<MetricCounts, "incidents" | "backlog" | "late" | "of_places"> & MetricCounts["incidents"]

export const readMetricCounts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
): Effect.fn.Return<MetricCounts, SqlError.SqlError> {
  const [row] = yield* read(sql, findMetricCounts, [])
  const backlog = yield* read(sql, findBacklog.text, findBacklog.values)
  const late = yield* read(sql, findLate, [])
  const ofPlaces = yield* read(sql, findOfPlaces, [])
  // The columns are those of the statements.
  const { critical, unknown, warning, ...counts } = row as unknown as Counted
  return {
    ...counts,
    incidents: { warning, critical, unknown },
    late: late as unknown as MetricCounts["late"],
    of_places: ofPlaces as unknown as MetricCounts["of_places"],
    backlog: sortBacklog((backlog as unknown as ReadonlyArray<BacklogRow>).flatMap(toBacklog)),
  }
})
