import { NotificationType, type NotifierName, type Severity } from "@tocsin/core/contract/Status"
import type { Instant } from "@tocsin/core/contract/Instant"
import {
  type Backlog,
  BACKLOG_STATES,
  type BacklogState,
  CENSUS_LIMIT,
  type MetricCounts,
  sortBacklog,
} from "@tocsin/core/ports/StorageCounts"
import { SEVERITY_RANK } from "@tocsin/core/incidents/MemberRecord"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"

const COUNT_UP_TO = `LIMIT ${CENSUS_LIMIT}`

/** Prepares the count of each notifier's items by state. */
const makeBacklog = (connection: SqliteConnection) => {
  // Held items are pending too, and wait for nobody: another index leaves them out.
  const waitingNotifier = connection.query<[NotifierName]>(
    `SELECT notifier FROM outbox INDEXED BY outbox_waiting
    WHERE state = 'pending' AND look_at IS NULL AND notifier > ? ORDER BY notifier LIMIT 1`,
  )
  const waiting = connection.query<[bigint]>(
    `SELECT count(*) FROM (SELECT 1 FROM outbox INDEXED BY outbox_waiting
      WHERE state = 'pending' AND look_at IS NULL AND notifier = ? ${COUNT_UP_TO})`,
  )
  const oldestWaiting = connection.query<[Instant | null]>(
    `SELECT min(created_at) FROM outbox INDEXED BY outbox_waiting
    WHERE state = 'pending' AND look_at IS NULL AND notifier = ? AND event_type = ?`,
  )
  const nextNotifier = connection.query<[NotifierName]>(
    `SELECT notifier FROM outbox INDEXED BY outbox_by_created_at WHERE state = ? AND notifier > ?
    ORDER BY notifier LIMIT 1`,
  )
  const items = connection.query<[bigint]>(
    `SELECT count(*) FROM (SELECT 1 FROM outbox INDEXED BY outbox_by_created_at
      WHERE state = ? AND notifier = ? ${COUNT_UP_TO})`,
  )
  const oldest = connection.query<[Instant | null]>(
    `SELECT min(created_at) FROM outbox INDEXED BY outbox_by_created_at
    WHERE state = ? AND notifier = ? AND event_type = ?`,
  )

  const oldestOf = (state: BacklogState, notifier: NotifierName): Instant | undefined =>
    NotificationType.literals
      .flatMap(
        (type) =>
          (state === "pending"
            ? oldestWaiting.get(notifier, type)
            : oldest.get(state, notifier, type))?.[0] ?? [],
      )
      .toSorted((a, b) => (a < b ? -1 : 1))[0]

  const notifierAfter = (state: BacklogState, name: string): NotifierName | undefined =>
    (state === "pending" ? waitingNotifier.get(name) : nextNotifier.get(state, name))?.[0]

  function* backlogOf(state: BacklogState): Generator<Backlog> {
    // Names are not empty, so all sort after this.
    let notifier = notifierAfter(state, "")
    while (notifier !== undefined) {
      const oldest_created_at = oldestOf(state, notifier)
      const count = Number(
        (state === "pending" ? waiting.get(notifier) : items.get(state, notifier))?.[0] ?? 0,
      )
      if (oldest_created_at !== undefined) yield { notifier, state, items: count, oldest_created_at }
      notifier = notifierAfter(state, notifier)
    }
  }
  return backlogOf
}

/** Prepares the counts for metrics. Each statement reads a bounded part of an index. */
export const makeMetricCounts = (connection: SqliteConnection) => {
  const agents = connection.query<[pending: bigint, dead: bigint, blocked: bigint]>(
    `SELECT (SELECT count(*) FROM agent INDEXED BY agent_pending WHERE admission_state = 'pending'),
      (SELECT agents_dead FROM system_total WHERE writer = 0),
      (SELECT count(*) FROM (SELECT 1 FROM agent_key INDEXED BY agent_key_blocked WHERE state = 'blocked' ${COUNT_UP_TO}))`,
  )
  const open = connection.query<[bigint]>(
    `SELECT count(*) FROM (SELECT 1 FROM incident INDEXED BY incident_by_opened_at
      WHERE state_rank = 1 AND severity_rank = ? ${COUNT_UP_TO})`,
  )
  const backlogOf = makeBacklog(connection)
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
      backlog: sortBacklog(BACKLOG_STATES.flatMap((state) => Array.from(backlogOf(state)))),
    }
  }
}
