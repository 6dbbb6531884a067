import type { IncidentId } from "@tocsin/core/contract/Identifiers"
import type { Instant } from "@tocsin/core/contract/Instant"
import type { RetentionBounds } from "@tocsin/core/ports/Storage"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"

/** Rows of several tables that have outlived their retention, each found by an index (decisions §10). */
export const makeExpiredRows = (connection: SqliteConnection) => {
  const oldHistory = connection.query<[seq: bigint]>(
    "SELECT seq FROM check_event WHERE is_kept = 0 AND received_at < ? ORDER BY received_at LIMIT ?",
  )
  const OF_THESE = "IN (SELECT value FROM json_each(?))"
  const removeReplaced = connection.query(
    `DELETE FROM check_event WHERE seq ${OF_THESE} AND EXISTS (
      SELECT 1 FROM check_event AS newer WHERE newer.registration_id = check_event.registration_id
        AND newer.check_id = check_event.check_id AND newer.seq > check_event.seq
    )`,
  )
  const keep = connection.query(`UPDATE check_event SET is_kept = 1 WHERE seq ${OF_THESE}`)
  const incidents = connection.query<[IncidentId]>(
    "SELECT id FROM incident WHERE state_rank = 0 AND severity_rank IN (1, 2, 3) AND resolved_order < ? LIMIT ?",
  )
  const removals = [
    connection.query(`DELETE FROM incident_member WHERE incident_id ${OF_THESE}`),
    connection.query(`DELETE FROM incident_change WHERE incident_id ${OF_THESE}`),
    connection.query(`DELETE FROM alert WHERE incident_id ${OF_THESE}`),
    connection.query(`DELETE FROM incident WHERE id ${OF_THESE}`),
  ]
  const removeIncidents = (bound: Instant, limit: number): number => {
    const ids = incidents.all(bound, limit).map(([id]) => id)
    for (const removal of removals) removal.get(JSON.stringify(ids))
    return ids.length
  }
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
    /**
     * Looks at `limit` rows of history at most: removes those that a newer row of their check has replaced, and sets the
     * others aside until one does. So each look meets new rows, however many checks have not changed for years.
     */
    removeHistory: (bound: Instant, limit: number): { readonly found: number; readonly removed: number } => {
      const found = oldHistory.all(bound, limit)
      const seqs = `[${found.join(",")}]`
      const removed = Number(removeReplaced.run(seqs).changes)
      if (removed < found.length) keep.run(seqs)
      return { found: found.length, removed }
    },
    /** Removes at most `limit` rows of other tables. Returns how many; an incident counts as one, whatever belongs to it. */
    removeOthers: ({ incidents: resolved, outbox: ended }: RetentionBounds, limit: number): number => {
      let left = limit
      if (resolved !== undefined) left -= removeIncidents(resolved, left)
      if (ended !== undefined && left > 0) left -= removeOutbox(ended, left)
      return limit - left
    },
  }
}
