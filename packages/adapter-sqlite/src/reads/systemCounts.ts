import type * as Instant from "@tocsin/contract/formats/Instant"
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
import { isListed } from "@tocsin/core/heart/model/outboxList"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"
import {
  type CheckStatus,
  NotificationType,
  type NotifierName,
  type Severity,
  SEVERITY_RANK,
} from "@tocsin/contract/formats/Status"

/** The only row of `system_total`. Triggers keep it, except for open incidents. */
const FIND_TOTALS = `SELECT agents_accepted, checks_ok, checks_warning, checks_critical, checks_unknown, incidents_open
  FROM system_total WHERE writer = 0`

/** Prepares the counts of the summary; see `Storage.counts`. Call it in a snapshot. */
export const makeCounts = (connection: SqliteConnection) => {
  const totals = connection.query<ReadonlyArray<bigint>>(FIND_TOTALS)
  const offline = connection.query<[bigint]>(
    "SELECT count(*) FROM agent WHERE admission_state = 'accepted' AND last_seen_at <= ?",
  )
  return (aliveSince: Instant.Instant, known?: number): SummaryCounts => {
    const row = totals.get()
    const at = (index: number) => Number(row?.[index] ?? 0n)
    const agents_offline = known ?? Number(offline.get(aliveSince)?.[0] ?? 0)
    return {
      agents_online: at(0) - agents_offline,
      agents_offline,
      checks_ok: at(1),
      checks_warning: at(2),
      checks_critical: at(3),
      checks_unknown: at(4),
      open_incidents: at(5),
    }
  }
}

const COUNT_UP_TO = `LIMIT ${CENSUS_LIMIT}`

/** The items of a state, in the index that finds them. Held items are pending too, and are left out. */
const itemsOf = (state: BacklogState): string =>
  `outbox AS o INDEXED BY outbox_by_created_at WHERE ${isListed("o")} AND listed_state = '${state}'`

/** Items that are being sent are few, and not in that index. */
const FIND_SENDING = `SELECT notifier, count(*), min(age_starts_at) FROM (
    SELECT notifier, age_starts_at FROM outbox INDEXED BY outbox_leased WHERE state = 'sending' ${COUNT_UP_TO}
  ) GROUP BY notifier`

const makeSending = (connection: SqliteConnection) => {
  const sending = connection.query<[NotifierName, bigint, Instant.Instant]>(FIND_SENDING)
  return (): ReadonlyArray<Backlog> =>
    sending.all().map(([notifier, items, waiting_since]) => ({
      notifier,
      state: "sending",
      items: Number(items),
      waiting_since,
    }))
}

const makeBacklog = (connection: SqliteConnection, state: BacklogState) => {
  const items = itemsOf(state)
  const next = connection.query<[NotifierName]>(
    `SELECT notifier FROM ${items} AND notifier > ? ORDER BY notifier LIMIT 1`,
  )
  const count = connection.query<[bigint]>(
    `SELECT count(*) FROM (SELECT 1 FROM ${items} AND notifier = ? ${COUNT_UP_TO})`,
  )
  const oldest = connection.query<[Instant.Instant | null]>(
    `SELECT min(age_starts_at) FROM (
      SELECT age_starts_at FROM ${items} AND notifier = ? AND event_type = ? ORDER BY created_at LIMIT ${AGED_ITEMS})`,
  )
  return (): ReadonlyArray<Backlog> => {
    const backlog: Array<Backlog> = []
    // Names are not empty, so all sort after this.
    for (let row = next.get(""); row !== undefined; row = next.get(row[0])) {
      const [notifier] = row
      const [waiting_since] = NotificationType.literals
        .flatMap((type) => oldest.get(notifier, type)?.[0] ?? [])
        .toSorted((a, b) => (a < b ? -1 : 1))
      const found = Number(count.get(notifier)?.[0] ?? 0)
      if (waiting_since !== undefined) backlog.push({ notifier, state, items: found, waiting_since })
    }
    return backlog
  }
}

/** Passes over the index of late checks. A damaged severity is that of terms that cannot be read. */
const FIND_LATE = `SELECT c.status,
    CASE WHEN json_valid(r.terms) AND r.terms ->> '$.severity' IN ('critical', 'unknown')
      THEN r.terms ->> '$.severity' ELSE 'warning' END AS severity, count(*)
  FROM (SELECT * FROM expectation INDEXED BY expectation_overdue WHERE incident_id IS NOT NULL ${COUNT_UP_TO}) AS r
  JOIN agent AS a ON a.agent_id = r.agent_id AND a.registration_id = r.registration_id
  LEFT JOIN check_state AS c ON c.agent_id = r.agent_id AND c.registration_id = r.registration_id
    AND c.check_id = r.check_id
  GROUP BY 1, 2`

const COUNT_WITHDRAWN = `SELECT count(*) FROM (SELECT 1 FROM check_state AS r INDEXED BY check_state_withdrawn
  JOIN agent AS a ON a.agent_id = r.agent_id AND a.registration_id = r.registration_id
  WHERE r.withdrawn_at IS NOT NULL ${COUNT_UP_TO})`

const COUNT_OF_PLACES = `SELECT r.status, count(*) FROM check_state AS r INDEXED BY check_state_of_place
  JOIN agent AS a ON a.agent_id = r.agent_id AND a.registration_id = r.registration_id
  WHERE r.is_of_place IS NOT NULL GROUP BY 1`

/** Prepares the counts for metrics. Each statement reads a bounded part of an index. */
export const makeMetricCounts = (connection: SqliteConnection) => {
  const agents = connection.query<[pending: bigint, dead: bigint, blocked: bigint]>(
    `SELECT agents_pending, agents_dead, (SELECT count(*) FROM (SELECT 1 FROM agent_key INDEXED BY agent_key_blocked WHERE state = 'blocked' ${COUNT_UP_TO}))
    FROM system_total WHERE writer = 0`,
  )
  const open = connection.query<[bigint]>(
    `SELECT count(*) FROM (SELECT 1 FROM incident INDEXED BY incident_by_opened_at
      WHERE phase IN (1, 2) AND severity_rank = ? ${COUNT_UP_TO})`,
  )
  const late = connection.query<[CheckStatus | null, Severity, bigint]>(FIND_LATE)
  const withdrawn = connection.query<[bigint]>(COUNT_WITHDRAWN)
  const ofPlaces = connection.query<[CheckStatus, bigint]>(COUNT_OF_PLACES)
  const backlogs = BACKLOG_STATES.map((state) =>
    state === "sending" ? makeSending(connection) : makeBacklog(connection, state),
  )
  return (): MetricCounts => {
    const [pending, dead, blocked] = agents.get() ?? [0n, 0n, 0n]
    const openOf = (severity: Severity) => Number(open.get(SEVERITY_RANK[severity])?.[0] ?? 0)
    return {
      agents_pending: Number(pending),
      agents_dead: Number(dead),
      keys_blocked: Number(blocked),
      incidents: {
        warning: openOf("warning"),
        critical: openOf("critical"),
        unknown: openOf("unknown"),
      },
      late: late.all().map(([status, severity, checks]) => ({ status, severity, checks: Number(checks) })),
      withdrawn: Number(withdrawn.get()?.[0] ?? 0),
      of_places: ofPlaces.all().map(([status, checks]) => ({ status, checks: Number(checks) })),
      backlog: sortBacklog(backlogs.flatMap((backlogOf) => backlogOf())),
    }
  }
}
