import type { Instant } from "@tocsin/contract/formats/Instant"
import type { NotifierName } from "@tocsin/contract/formats/Status"
import { Duration, Effect } from "effect"
import type { SqlError } from "effect/sql"
import { STORAGE_TIME } from "../Database.ts"
import type { PgClient } from "../client/PgClient.ts"
import { keyedTables } from "./keyedTables.ts"

export const outboxTable = keyedTables.outbox

/** Of a receiver, the rows that claims take first, and the others. */
const PARTS = "(VALUES (false), (true)) AS part (is_backfill)"

/** The outbox items of incidents except those that were discarded untried (`isUntried`). */
const OF_INCIDENTS =
  "WHERE o.incident_id = ANY($1) AND (o.state <> 'discarded' OR o.discarded_because = 'shadowed' OR o.first_attempted_at IS NOT NULL)"
export const findOutboxOfIncidents = outboxTable.select(OF_INCIDENTS)

/** Locks them too: claims change them without the incident's lock. */
export const lockOutboxOfIncidents = outboxTable.select(`${OF_INCIDENTS} ORDER BY o.id FOR UPDATE`)

/**
 * Locks what a claim takes, longest due first: free items that are due by `$2` with no earlier item of their
 * incident waiting, and those whose lease has expired by the storage's clock, which each row has. A row with
 * nothing else means that nothing was found. OFFSET 0 makes PostgreSQL read the clock once, and look for
 * earlier items one incident at a time.
 */
export const lockClaimableOutbox = `SELECT storage.storage_time, found.*
  FROM (SELECT ${STORAGE_TIME} AS storage_time OFFSET 0) AS storage
  LEFT JOIN LATERAL (
    SELECT due.* FROM (
      SELECT claimable.*
      FROM unnest($1::text[]) AS wanted (receiver)
      CROSS JOIN ${PARTS}
      CROSS JOIN LATERAL (
        SELECT ${outboxTable.columns} FROM outbox AS o
        WHERE o.receiver = wanted.receiver AND o.is_backfill = part.is_backfill AND o.state IN ('pending', 'retry') AND o.next_attempt_at <= $2
          AND EXISTS (SELECT FROM incident AS i WHERE i.id = o.incident_id)
          AND NOT EXISTS (
            SELECT FROM outbox AS earlier
            WHERE earlier.incident_id = o.incident_id AND earlier.receiver = o.receiver
              AND (earlier.incident_seq, earlier.id) < (o.incident_seq, o.id)
              AND earlier.state NOT IN ('sent', 'failed', 'discarded')
            OFFSET 0
          )
        ORDER BY o.next_attempt_at, o.id LIMIT $3 FOR UPDATE OF o SKIP LOCKED
      ) AS claimable
      ORDER BY claimable.is_backfill, claimable.next_attempt_at, claimable.id LIMIT $3
    ) AS due
    UNION ALL
    SELECT expired.* FROM (
      SELECT ${outboxTable.columns} FROM outbox AS o
      WHERE o.receiver = ANY($1) AND o.state = 'sending' AND o.leased_until <= storage.storage_time
      ORDER BY o.leased_until, o.id LIMIT $3 FOR UPDATE SKIP LOCKED
    ) AS expired
  ) AS found ON true
  ORDER BY found.leased_until IS NOT NULL, found.is_backfill, found.next_attempt_at, found.leased_until, found.id`

/**
 * Finds the incidents of held items of the receivers `$3` that are to be examined by `$1`, longest due first. An older
 * server may have sent one in retry.
 */
export const findHeldOutbox = `SELECT o.incident_id AS id FROM outbox AS o
  WHERE o.next_evaluation_at IS NOT NULL AND o.next_evaluation_at <= $1 AND o.receiver = ANY($3)
    AND o.state IN ('pending', 'retry')
  ORDER BY o.next_evaluation_at, o.id LIMIT $2`

/** Reads the receivers of items that wait or are being sent, one look into the index for each. */
export const findWaitingReceivers = `WITH RECURSIVE waiting (receiver) AS (
    (SELECT o.receiver FROM outbox AS o WHERE o.state IN ('pending', 'retry') ORDER BY o.receiver LIMIT 1)
    UNION ALL
    SELECT (
      SELECT o.receiver FROM outbox AS o
      WHERE o.state IN ('pending', 'retry') AND o.receiver > waiting.receiver ORDER BY o.receiver LIMIT 1
    )
    FROM waiting WHERE waiting.receiver IS NOT NULL
  )
  SELECT waiting.receiver FROM waiting WHERE waiting.receiver IS NOT NULL
  UNION
  SELECT o.receiver FROM outbox AS o WHERE o.state = 'sending'`

/**
 * Locks waiting items, and items whose lease ended before `$4`, skipping locked ones. Where the receiver
 * is a notifier by its own name, they were last updated, or their lease ended, before `$2`.
 */
export const lockUnclaimedOutbox = {
  decode: outboxTable.decode,
  text: `SELECT waiting.* FROM (
    SELECT ${outboxTable.columns} FROM outbox AS o
    WHERE o.receiver = ANY($1) AND o.state IN ('pending', 'retry')
      AND (o.receiver <> o.notifier OR o.updated_at < $2)
    LIMIT $3 FOR UPDATE SKIP LOCKED
  ) AS waiting
  UNION ALL
  SELECT leased.* FROM (
    SELECT ${outboxTable.columns} FROM outbox AS o
    WHERE o.receiver = ANY($1) AND o.state = 'sending'
      AND o.leased_until < CASE WHEN o.receiver = o.notifier THEN $2 ELSE $4 END
    LIMIT $3 FOR UPDATE SKIP LOCKED
  ) AS leased`,
}

export const findOutboxOfIncident = outboxTable.select(
  "WHERE o.incident_id = $1 ORDER BY o.incident_seq DESC, o.id DESC LIMIT $2",
)

/** Locks the alerts of incidents: claims change them without the incident's lock. */
export const lockAlertsOfIncidents = keyedTables.alert.select(
  "WHERE l.incident_id = ANY($1) ORDER BY l.incident_id, l.receiver, l.severity FOR UPDATE OF l",
)

/** Locks due alerts of the receiver `$4` without a lease, longest due first, skipping locked ones. */
export const lockClaimableAlerts = keyedTables.alert.select(
  `WHERE l.receiver = $4 AND l.next_at <= $1 AND (l.leased_until IS NULL OR l.leased_until <= $2)
  ORDER BY l.next_at, l.incident_id, l.severity LIMIT $3 FOR UPDATE OF l SKIP LOCKED`,
)

/** The microseconds until the first of several moments, each the head of an index. */
const findUntilNextDue = `SELECT least(
    (SELECT min(head.next_attempt_at) - $2::int8
     FROM unnest($1::text[]) AS wanted (receiver)
     CROSS JOIN ${PARTS}
     CROSS JOIN LATERAL (
       SELECT o.next_attempt_at FROM outbox AS o
       WHERE o.receiver = wanted.receiver AND o.is_backfill = part.is_backfill AND o.state IN ('pending', 'retry') AND o.next_attempt_at > $2::int8
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
