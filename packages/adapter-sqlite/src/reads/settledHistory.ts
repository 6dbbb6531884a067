import type { SettledHistory, SettledReads } from "@tocsin/core/kernel/ports/SettledReads"
import type { SqliteConnection } from "../connection/SqliteConnection.ts"

/** An index has the rows that retention removes by their time; those that it keeps are few. */
const within = (isKept: 0 | 1): string => `SELECT min(seq + 0) AS first, max(seq + 0) AS last FROM check_event
  WHERE is_kept = ${isKept} AND received_at >= ?1 AND received_at < ?2 AND seq > ?3`

/** Finds the history rows of a span. Their numbers are those of the order in which transactions ended. */
export const makeSettledHistory = (connection: SqliteConnection) => {
  const newest = connection.query<[seq: bigint | null]>("SELECT max(seq) FROM check_event")
  const bounds = connection.query<[first: bigint | null, last: bigint | null]>(
    `SELECT min(first), max(last) FROM (${within(0)} UNION ALL ${within(1)})`,
  )
  return (...[{ from, to }, after = 0]: Parameters<SettledReads["settledHistory"]>): SettledHistory => {
    const [settled] = newest.get() ?? []
    const [first, last] = bounds.get(from, to, after) ?? []
    return {
      first: Number(first ?? 0),
      last: Number(last ?? 0),
      settled: Math.max(after, Number(settled ?? 0)),
    }
  }
}
