import type { Instant } from "@tocsin/contract/Instant"
import type { NotifierName } from "@tocsin/contract/Status"
import { Duration, Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import { STORAGE_TIME } from "../Database.ts"

/** The microseconds until the first of several moments, each the head of an index. */
const findUntilNextDue = `SELECT least(
    (SELECT min(head.next_attempt_at) - $2::int8
     FROM unnest($1::text[]) AS wanted (receiver)
     CROSS JOIN LATERAL (
       SELECT o.next_attempt_at FROM outbox AS o
       WHERE o.receiver = wanted.receiver AND o.state IN ('pending', 'retry') AND o.next_attempt_at > $2::int8
       ORDER BY o.next_attempt_at LIMIT 1
     ) AS head),
    (SELECT o.leased_until - storage.now FROM outbox AS o
     WHERE o.state = 'sending' AND o.receiver = ANY($1) AND o.leased_until > storage.now
     ORDER BY o.leased_until LIMIT 1),
    (SELECT min(head.micros)
     FROM unnest($1::text[]) AS wanted (receiver)
     CROSS JOIN LATERAL (
       (SELECT l.next_at - $2::int8 AS micros FROM alert AS l
        WHERE l.receiver = wanted.receiver AND l.next_at > $2::int8 AND (l.leased_until > storage.now) IS NOT TRUE
        ORDER BY l.next_at LIMIT 1)
       UNION ALL
       (SELECT l.leased_until - storage.now FROM alert AS l
        WHERE l.receiver = wanted.receiver AND l.leased_until > storage.now
        ORDER BY l.leased_until LIMIT 1)
     ) AS head)
  ) AS micros
  FROM (SELECT ${STORAGE_TIME} AS now OFFSET 0) AS storage`

/**
 * The time until a claim may find something; see `Storage.untilNextDue`. It runs after each claim, so
 * it is prepared, on connections whose plans use indexes: planning takes longer than running it.
 */
export const untilNextDue = (
  pg: PgClient["Service"],
  receivers: ReadonlyArray<NotifierName>,
  now: Instant,
): Effect.Effect<Duration.Duration | undefined, SqlError.SqlError> =>
  Effect.map(pg.query(findUntilNextDue, [receivers, now]), ([row]) => {
    // int8, which the client reads as a bigint; NULL if nothing waits.
    const micros = row?.["micros"] as bigint | null | undefined
    return micros === null || micros === undefined ? undefined : Duration.nanos(micros * 1_000n)
  })
