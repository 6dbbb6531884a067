import type { Instant } from "@tocsin/contract/formats/Instant"
import {
  expireNow,
  type RetentionPiece,
  type RetentionResult,
  type RetentionTables,
} from "@tocsin/core/lists/retention/retentionPiece"
import { forNames, storedTables } from "@tocsin/core/lists/StoredTables"
import {
  type AgedName,
  agedNames,
  agedTables,
  type RemovedRows,
  removedNames,
  removedRows,
} from "@tocsin/core/lists/retention/RetentionRules"
import type { AnyShape } from "@tocsin/core/kernel/model/TableShape"
import type { Query, SqliteConnection } from "../connection/SqliteConnection.ts"

type Tables = RetentionTables<"now">

type OutboxFacts = readonly [
  id: string,
  created_at: Instant,
  updated_at: Instant,
  incident_id: string | null,
  resolved_at: Instant | null,
  hasUnfinishedNotification: bigint,
]

type IncidentFacts = readonly [
  id: string,
  opened_at: Instant,
  resolved_at: Instant | null,
  hasUnfinishedNotification: bigint,
]

/** Whether a notification of an incident has not ended. The index has the same comparisons. */
export const hasUnfinishedNotification = (incidentId: string): string =>
  `EXISTS (
    SELECT 1 FROM outbox AS other INDEXED BY outbox_unfinished
    WHERE other.incident_id = ${incidentId}
      AND (other.state = 'pending' OR other.state = 'sending' OR other.state = 'retry')
  )`

const makeLooks = (connection: SqliteConnection): Tables["look"] => {
  const agents = connection.query<[registration_id: string]>(
    "SELECT registration_id FROM removed_registration ORDER BY registration_id LIMIT ?",
  )
  const history = connection.query<[seq: bigint, isNewest: bigint]>(
    `SELECT old.seq, NOT EXISTS (
      SELECT 1 FROM check_event AS newer WHERE newer.registration_id = old.registration_id
        AND newer.check_id = old.check_id AND newer.seq > old.seq
    ) FROM check_event AS old WHERE old.is_kept = 0 AND old.received_at < ? ORDER BY old.received_at LIMIT ?`,
  )
  const outbox = connection.query<OutboxFacts>(
    `SELECT item.id, item.created_at, item.updated_at, incident.id, incident.resolved_at, ${hasUnfinishedNotification("item.incident_id")}
    FROM outbox AS item LEFT JOIN incident ON incident.id = item.incident_id
    WHERE item.id > ? ORDER BY item.id LIMIT ?`,
  )
  const incidents = connection.query<IncidentFacts>(
    `SELECT id, opened_at, resolved_at, ${hasUnfinishedNotification("incident.id")} FROM incident WHERE id > ? ORDER BY id LIMIT ?`,
  )
  return {
    ...forNames<AgedName, Pick<Tables["look"], AgedName>>(agedNames, (rule) => {
      const { from, key, table } = agedTables[rule]
      const aged = connection.query<[key: string]>(
        `SELECT ${key} FROM ${table} WHERE ${from} < ? ORDER BY ${from} LIMIT ?`,
      )
      return ({ before, limit }: RetentionPiece) => aged.all(before, limit).map(([name]) => ({ key: name }))
    }),
    deleted_agents: ({ limit }) => agents.all(limit).map(([key]) => ({ key })),
    history: ({ before, limit }) =>
      history.all(before, limit).map(([seq, isNewest]) => ({ key: String(seq), isNewest: isNewest === 1n })),
    outbox: ({ after = "", limit }) =>
      outbox.all(after, limit).map(([key, created_at, updated_at, incident, resolved_at, held]) => ({
        key,
        created_at,
        updated_at,
        incident:
          incident === null
            ? undefined
            : { resolved_at: resolved_at ?? undefined, hasUnfinishedNotification: held === 1n },
      })),
    incidents: ({ after = "", limit }) =>
      incidents.all(after, limit).map(([key, opened_at, resolved_at, held]) => ({
        key,
        opened_at,
        resolved_at: resolved_at ?? undefined,
        hasUnfinishedNotification: held === 1n,
      })),
  }
}

const GIVEN = "(SELECT value FROM json_each(?))"
const GIVEN_NUMBERS = "(SELECT CAST(value AS INTEGER) FROM json_each(?))"

const makeRemovals = (connection: SqliteConnection): Tables["remove"] => {
  const removalOf = (rows: RemovedRows): Query<never> => {
    const { table, by } = removedRows[rows]
    const shape: AnyShape = storedTables[table]
    const key = shape.key.join(", ")
    const given = shape.columns[by]?.type === "long" ? GIVEN_NUMBERS : GIVEN
    // A key that begins with the agent finds its rows only with it.
    const source =
      shape.key[0] === "agent_id"
        ? `(SELECT agent_id, registration_id FROM removed_registration WHERE registration_id IN ${given})
        CROSS JOIN ${table} USING (agent_id, registration_id)`
        : `${table} WHERE ${by} IN ${given}`
    return connection.query(`DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${source} LIMIT ?)`)
  }
  const removals = forNames<RemovedRows, Readonly<Record<RemovedRows, Query<never>>>>(removedNames, removalOf)
  return (rows, keys, limit) => Number(removals[rows].run(JSON.stringify(keys), limit).changes)
}

/** Retention in SQLite. An index finds all rows. */
export const makeRetentionTables = (connection: SqliteConnection): Tables => {
  const keep = connection.query(`UPDATE check_event SET is_kept = 1 WHERE seq IN ${GIVEN_NUMBERS}`)
  return {
    look: makeLooks(connection),
    quarantine: (keys) => {
      keep.run(JSON.stringify(keys))
    },
    remove: makeRemovals(connection),
  }
}

/** Rows between two looks at the clock. Each may take a millisecond where its pages are not in memory. */
const BATCH = 16

/** How long a piece may take: nothing else of the process runs meanwhile. */
const PIECE_MILLIS = 10

/** Runs pieces of retention in batches. A piece ends when its time is used, however many rows it may have. */
export const makeExpiry = (connection: SqliteConnection, steady: () => number = () => performance.now()) => {
  const tables = makeRetentionTables(connection)
  return (piece: RetentionPiece): RetentionResult => {
    const endsAt = steady() + PIECE_MILLIS
    let result: RetentionResult = { removed: 0, after: piece.after, isMore: true }
    for (let left = piece.limit; left > 0 && result.isMore; left -= BATCH) {
      if (left < piece.limit && steady() >= endsAt) break
      const batch = expireNow(tables, { ...piece, after: result.after, limit: Math.min(BATCH, left) })
      result = { ...batch, removed: result.removed + batch.removed }
    }
    return result
  }
}
