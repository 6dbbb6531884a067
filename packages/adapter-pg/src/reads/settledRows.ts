import * as Instant from "@tocsin/contract/formats/Instant"
import type { SettledHistory, SettledReads } from "@tocsin/core/kernel/ports/SettledReads"
import { Duration, Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import * as RealTime from "../RealTime.ts"

type Pg = PgClient["Service"]

/** Transactions that may write a table: each has its lock until what it wrote is visible. */
const findWriters = `SELECT l.virtualtransaction AS writer,
    coalesce((extract(epoch FROM a.xact_start) * 1000000)::int8, 0) AS began_at
  FROM pg_locks AS l LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid
  WHERE l.locktype = 'relation' AND l.relation = $1::text::regclass AND l.granted
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND l.mode IN ('RowExclusiveLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`

/** Nearly all transactions end sooner. One that does not is no reason to wait. */
const LOOKS = 20
const BETWEEN_LOOKS = Duration.millis(25)

/** The writers of this moment that have not ended soon after. */
const longWriters = Effect.fnUntraced(function* (pg: Pg, table: "check_event" | "incident") {
  const writersNow = Effect.map(
    pg.query(findWriters, [table]),
    // The columns of the statement.
    (rows) =>
      new Map(rows.map((row) => [row["writer"] as string, Instant.fromMicros(row["began_at"] as bigint)])),
  )
  let left = yield* writersNow
  for (let look = 1; left.size > 0 && look < LOOKS; look++) {
    yield* RealTime.pause(BETWEEN_LOOKS)
    const present = yield* writersNow
    left = new Map(Array.from(left).filter(([writer]) => present.has(writer)))
  }
  return left
})

const findNewest = "SELECT coalesce(max(seq), 0) AS seq FROM check_event"

/** `+ 0`: PostgreSQL would look for the first row of a span from the first of the table on. */
const within = (isKept: "is_kept" | "NOT is_kept"): string =>
  `SELECT min(seq + 0) AS first, max(seq + 0) AS last FROM check_event
  WHERE ${isKept} AND received_at >= $1::int8 AND received_at < $2::int8 AND seq > $3::int8 AND seq <= $4::int8`

const findBounds = `SELECT coalesce(min(first), 0) AS first, coalesce(max(last), 0) AS last
  FROM (${within("NOT is_kept")} UNION ALL ${within("is_kept")}) AS bounds`

/** The number before the first one that no row has. A transaction that has not ended may have it. */
const findGap = `SELECT seq FROM (
    SELECT seq, lead(seq, 1, $2::int8 + 1) OVER (ORDER BY seq) AS next
    FROM (SELECT $1::int8 AS seq UNION ALL SELECT seq FROM check_event WHERE seq > $1::int8 AND seq <= $2::int8) AS known
  ) AS found WHERE next > seq + 1 ORDER BY seq LIMIT 1`

type Asked = Parameters<SettledReads["settledHistory"]>

/**
 * A row gets its number before its transaction ends, so a number may become visible after higher ones. Each number up
 * to the highest that is visible was given to a transaction that has ended, or is among the writers of a later moment.
 */
export const readingSettledHistory = (pg: Pg) => {
  /** All transactions with numbers up to this one have ended. */
  let known = 0
  const numberOf = (statement: string, values: ReadonlyArray<unknown>, otherwise = 0) =>
    Effect.map(pg.query(statement, values), ([row]) => Number(row?.["seq"] ?? otherwise))
  const settle = Effect.gen(function* () {
    const newest = yield* numberOf(findNewest, [])
    const writers = yield* longWriters(pg, "check_event")
    // Of a restored backup, the numbers are others.
    if (writers.size === 0 || newest < known) known = writers.size === 0 ? newest : 0
    return { newest, isSettled: writers.size === 0 }
  })
  return Effect.fnUntraced(function* (
    ...[{ from, to }, after = 0]: Asked
  ): Effect.fn.Return<SettledHistory, SqlError.SqlError> {
    const { isSettled, newest } = yield* settle
    const lowest = Math.max(after, known)
    const upTo = isSettled || newest <= lowest ? newest : yield* numberOf(findGap, [lowest, newest], newest)
    const settled = Math.max(after, upTo)
    const [row] = yield* pg.query(findBounds, [from, to, after, settled])
    return { first: Number(row?.["first"] ?? 0), last: Number(row?.["last"] ?? 0), settled }
  })
}

/** A transaction decides after its start, by a clock that is corrected by the database's. */
const CLOCK_ERROR = Duration.seconds(1)

export const settledIncidents = Effect.fnUntraced(function* (
  pg: Pg,
): Effect.fn.Return<Instant.Instant | undefined, SqlError.SqlError> {
  const began = Instant.earliest(Array.from((yield* longWriters(pg, "incident")).values()))
  return began && Instant.minus(began, CLOCK_ERROR)
})
