import type { AgentId } from "@tocsin/contract/Identifiers"
import type { Instant } from "@tocsin/contract/Instant"
import {
  makePass,
  type Pass,
  QUIET_KEPT,
  type QuietAgent,
  type StaleAgentScanReads,
  type SystemTotals,
} from "@tocsin/core/liveness/StaleAgentScan"
import { Effect } from "effect"
import type { SqlClient, SqlConnection, SqlError } from "effect/sql"
import { read } from "../Database.ts"
import { IS_OFFLINE, IS_SILENT } from "../tables/AgentTable.ts"
import { NotificationType, type NotifierName } from "@tocsin/contract/Status"
import {
  AGED_ITEMS,
  type Backlog,
  BACKLOG_STATES,
  type BacklogState,
  CENSUS_LIMIT,
  type MetricCounts,
  sortBacklog,
} from "@tocsin/core/ports/Storage"
import { SEVERITY_RANK } from "@tocsin/core/model/MemberRecord"
import { notifiersOf } from "../lists/selections.ts"

const findAcceptances = "SELECT coalesce(sum(acceptances), 0)::int8 AS acceptances FROM system_total"

/** Reads all agents once: those last seen by `$1`, longest quiet first, and the dead. */
const findQuietAgents = `WITH seen AS MATERIALIZED (
    SELECT agent_id, last_seen_at, greatest(last_seen_at, reachable_from) AS quiet_since,
      heartbeat_incident_id IS NOT NULL AS is_dead FROM agent
    WHERE admission_state = 'accepted' AND (last_seen_at <= $1 OR heartbeat_incident_id IS NOT NULL)
  )
  (SELECT agent_id, quiet_since FROM seen WHERE NOT is_dead ORDER BY quiet_since LIMIT $2)
  UNION ALL SELECT NULL, max(last_seen_at) FROM seen WHERE is_dead`

/** Finds which of these agents are silent since `$2`. */
const findSilentAgents = `SELECT agent_id FROM agent WHERE agent_id = ANY($1) AND ${IS_SILENT} ORDER BY agent_id LIMIT $3`

const sumsOf = (totals: ReadonlyArray<string>): string =>
  totals.map((total) => `coalesce(sum(${total}), 0)::float8 AS ${total}`).join(", ")

/** Adds up the totals, and counts agents, all as numbers. */
const totalsWith = (agents: string): string =>
  `SELECT ${sumsOf(["agents_accepted", "agents_dead", "acceptances"])},
          ${sumsOf(["checks_ok", "checks_warning", "checks_critical", "checks_unknown"])},
          coalesce(sum(incidents_open), 0)::float8 AS open_incidents,
          (SELECT count(*)::float8 FROM agent WHERE ${agents}) AS agents
   FROM system_total`

const findTotals = totalsWith(`agent_id = ANY($1) AND ${IS_OFFLINE}`)

const findTotalsOfAll = totalsWith("admission_state = 'accepted' AND last_seen_at <= $1")

/** The reads for the summary and the sweep for silent agents. */
export const systemReads = (sql: SqlClient.SqlClient): StaleAgentScanReads<SqlError.SqlError> => ({
  acceptances: Effect.map(read(sql, findAcceptances, []), ([row]) => Number(row?.["acceptances"])),
  pass: (bound) =>
    Effect.map(read(sql, findQuietAgents, [bound, QUIET_KEPT + 1]), (rows) => toPass(rows, bound)),
  silent: (among, seenBefore, limit) =>
    Effect.map(read(sql, findSilentAgents, [among, seenBefore, limit]), (rows) =>
      // The column holds only valid ids.
      rows.map((row) => row["agent_id"] as AgentId),
    ),
  look: (among, seenBefore) =>
    Effect.map(read(sql, findTotals, [among, seenBefore]), (rows) => {
      const { agents, totals } = toTotals(rows)
      return { ...totals, agents_silent: agents }
    }),
  evaluateAll: (aliveSince) =>
    Effect.map(read(sql, findTotalsOfAll, [aliveSince]), (rows) => {
      const { agents, totals } = toTotals(rows)
      return { ...totals, agents_offline: agents }
    }),
})

const toPass = (rows: ReadonlyArray<SqlConnection.Row>, bound: Instant): Pass => {
  // The columns are those of the statement. The row without an agent is for the dead.
  const found = rows as unknown as ReadonlyArray<
    QuietAgent | { readonly agent_id: null; readonly quiet_since: Instant | null }
  >
  const quiet = found.filter((row): row is QuietAgent => row.agent_id !== null)
  return makePass(quiet, {
    bound,
    deadSeenAt: found.find((row) => row.agent_id === null)?.quiet_since ?? undefined,
  })
}

const toTotals = ([row]: ReadonlyArray<SqlConnection.Row>) => {
  // One row with the columns of the statement, always.
  const { agents, ...totals } = row as unknown as SystemTotals & { readonly agents: number }
  return { agents, totals }
}

const COUNT_UP_TO = `LIMIT ${CENSUS_LIMIT}`

const openOf = (severity: keyof typeof SEVERITY_RANK): string =>
  `(SELECT count(*)::float8 FROM (SELECT FROM incident
      WHERE phase IN (1, 2) AND severity_rank = ${SEVERITY_RANK[severity]} ${COUNT_UP_TO}) AS counted) AS ${severity}`

/** Counts agents, keys and incidents by parts of indexes, or adds up running totals. */
export const findMetricCounts = `SELECT ${sumsOf(["agents_pending", "agents_dead"])},
    (SELECT count(*)::float8 FROM (SELECT FROM agent_key WHERE state = 'blocked' ${COUNT_UP_TO}) AS counted) AS keys_blocked,
    ${openOf("warning")}, ${openOf("critical")}, ${openOf("unknown")}
  FROM system_total`

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

type Counted = Omit<MetricCounts, "incidents" | "backlog"> & MetricCounts["incidents"]

/** Counts for metrics; see `Storage.metricCounts`. */
export const readMetricCounts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
): Effect.fn.Return<MetricCounts, SqlError.SqlError> {
  const [row] = yield* read(sql, findMetricCounts, [])
  const backlog = yield* read(sql, findBacklog.text, findBacklog.values)
  // The columns are those of the statements.
  const { critical, unknown, warning, ...counts } = row as unknown as Counted
  return {
    ...counts,
    incidents: { warning, critical, unknown },
    backlog: sortBacklog((backlog as unknown as ReadonlyArray<BacklogRow>).flatMap(toBacklog)),
  }
})
