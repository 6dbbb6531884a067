import type { Instant } from "@tocsin/core/contract/Instant"
import type { RetentionBounds } from "@tocsin/core/ports/Storage"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"

/** Rows of several tables that have outlived their retention, each found by an index (decisions §10). */
export const makeExpiredRows = (connection: SqliteConnection) => {
  const history = connection.query(
    `DELETE FROM check_event WHERE seq IN (
      SELECT seq FROM check_event WHERE is_latest = 0 AND received_at < ? LIMIT ?
    )`,
  )
  // Members, story and alerts go with their incident, by their foreign keys.
  const incidents = connection.query(
    `DELETE FROM incident WHERE id IN (
      SELECT id FROM incident WHERE state_rank = 0 AND severity_rank IN (1, 2, 3) AND resolved_order < ? LIMIT ?
    )`,
  )
  const outbox = connection.query(
    `DELETE FROM outbox WHERE id IN (
      SELECT id FROM outbox WHERE state = ? AND notifier = ? AND event_type IN ('firing', 'resolved')
        AND updated_at < ? LIMIT ?
    )`,
  )
  // Which notifiers there are is up to those who bring them: the next greater name each time is a look for each.
  const nextNotifier = connection.query<[name: string | null]>(
    "SELECT min(notifier) FROM outbox WHERE state = ? AND notifier > ?",
  )
  const removeOutbox = (bound: Instant, limit: number): number => {
    let left = limit
    for (const state of ["sent", "failed", "discarded"]) {
      let notifier = nextNotifier.get(state, "")?.[0]
      while (notifier !== null && notifier !== undefined && left > 0) {
        left -= Number(outbox.run(state, notifier, bound, left).changes)
        notifier = nextNotifier.get(state, notifier)?.[0]
      }
    }
    return limit - left
  }
  return {
    /** Removes at most `limit` of them. Returns how many; an incident counts as one, whatever belongs to it. */
    remove: (before: RetentionBounds, limit: number): number => {
      let left = limit
      const removeFrom = (statement: typeof history, bound: Instant | undefined): void => {
        if (bound !== undefined && left > 0) left -= Number(statement.run(bound, left).changes)
      }
      removeFrom(history, before.history)
      removeFrom(incidents, before.incidents)
      if (before.outbox !== undefined && left > 0) left -= removeOutbox(before.outbox, left)
      return limit - left
    },
  }
}
