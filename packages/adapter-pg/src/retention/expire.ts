import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import type { Instant } from "@tocsin/contract/formats/Instant"
import { reportPassedOver } from "@tocsin/core/kernel/engine/commits/lockedAgents"
import {
  expireEffect,
  type RetentionPiece,
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
  type RetentionFacts,
  RetentionRules,
} from "@tocsin/core/lists/retention/RetentionRules"
import type { AnyShape } from "@tocsin/core/kernel/model/TableShape"
import { Duration, Effect } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import { type Database, indexedTransaction } from "../Database.ts"
import * as RealTime from "../RealTime.ts"
import { findAgentIds } from "../tables/AgentTable.ts"
import { SQL_TYPES } from "../tables/makeTable.ts"

type Pg = PgClient["Service"]
type Tables = RetentionTables<"effect", SqlError.SqlError>

/** Storing results locks an agent for milliseconds. A session that locks it for a second hangs. */
const LOOKS = 5
const BETWEEN_LOOKS = Duration.millis(200)

/**
 * Runs a piece of retention; see `Storage.expire`. The last piece of a rule returns for a second to
 * agents that another session has locked, and then reports them.
 */
export const expire = Effect.fnUntraced(function* (database: Database, piece: RetentionPiece) {
  let removed = 0
  for (let look = 1; ; look++) {
    const locked = new Set<AgentId>()
    const rest = { ...piece, limit: piece.limit - removed }
    const result = yield* indexedTransaction(database, expireEffect(tablesOf(database.pg, locked), rest))
    removed += result.removed
    if (locked.size === 0 || result.isMore) return { ...result, removed }
    if (look > LOOKS) {
      yield* reportPassedOver("history", Array.from(locked))
      return { ...result, removed }
    }
    yield* RealTime.pause(BETWEEN_LOOKS)
  }
})

/** Retention in PostgreSQL, within a transaction. Adds agents that another session locks to `held`. */
const tablesOf = (pg: Pg, held: Set<AgentId>): Tables => ({
  look: {
    deleted_agents: ({ limit }) => read(pg, lockRemovedRegistrations, [limit]),
    history: (piece) => history(pg, piece, held),
    outbox: ({ after = "", limit }) => Effect.map(read<OutboxRow>(pg, findOutbox, [after, limit]), toOutbox),
    incidents: (piece) => incidents(pg, piece),
    ...forNames<AgedName, Pick<Tables["look"], AgedName>>(agedNames, (rule) => {
      const statement = findAged(agedTables[rule])
      return ({ before, limit }: RetentionPiece) =>
        read<{ readonly key: string }>(pg, statement, [before, limit])
    }),
  },
  quarantine: (keys) => Effect.asVoid(pg.query(keepHistory, [keys])),
  remove: (rows, keys, limit) =>
    Effect.map(pg.query(removals[rows], [keys, limit]), ([row]) => Number(row?.["removed"])),
})

// The columns of a row are those of its statement.
const read = <Row>(pg: Pg, statement: string, parameters: ReadonlyArray<unknown>) =>
  Effect.map(
    pg.query(statement, parameters),
    (rows: ReadonlyArray<SqlConnection.Row>) => rows as unknown as ReadonlyArray<Row>,
  )

/** Locks registrations of deleted agents, skipping those that another process removes. */
const lockRemovedRegistrations = `SELECT registration_id AS key FROM removed_registration
  ORDER BY registration_id LIMIT $1 FOR UPDATE SKIP LOCKED`

/** Finds the oldest results received before `$1` and not set aside, except those of the agents `$3`. */
const findOldHistory = `SELECT seq, agent_id FROM check_event
  WHERE NOT is_kept AND received_at < $1 AND agent_id <> ALL($3) ORDER BY received_at LIMIT $2`

/** Locks agents against new results, except agents that another session has locked. */
const lockFreeAgentsForShare =
  "SELECT agent_id FROM agent WHERE agent_id = ANY($1) ORDER BY agent_id FOR SHARE SKIP LOCKED"

const findNewest = `SELECT e.seq::text AS key, NOT EXISTS (
    SELECT FROM check_event AS newer
    WHERE newer.agent_id = e.agent_id AND newer.check_id = e.check_id
      AND newer.registration_id = e.registration_id AND newer.seq + 0 > e.seq
  ) AS "isNewest"
  FROM check_event AS e WHERE e.seq = ANY($1)`

/** Leaves results out of every later look. */
const keepHistory = "UPDATE check_event SET is_kept = true WHERE seq = ANY($1::bigint[])"

interface OldResult {
  readonly seq: bigint
  readonly agent_id: AgentId
}

/** Finds old results of agents that no other session has locked; adds the others to `held`. */
const history = Effect.fnUntraced(function* (pg: Pg, { before, limit }: RetentionPiece, held: Set<AgentId>) {
  for (;;) {
    const old = yield* read<OldResult>(pg, findOldHistory, [before, limit, Array.from(held)])
    if (old.length === 0) return []
    const agents = Array.from(new Set(old.map((row) => row.agent_id)))
    const locked = yield* idsOf(pg, lockFreeAgentsForShare, agents)
    // A deleted agent stores no more results, so it needs no lock.
    const missing = agents.filter((agentId) => !locked.has(agentId))
    const others = missing.length === 0 ? NONE : yield* idsOf(pg, findAgentIds, missing)
    if (others.size === 0) {
      return yield* read<RetentionFacts["history"]>(pg, findNewest, [old.map((row) => row.seq)])
    }
    // Results of other agents take the places of theirs in the next round.
    for (const agentId of others) held.add(agentId)
  }
})

const NONE: ReadonlySet<AgentId> = new Set()

const idsOf = (pg: Pg, statement: string, agents: ReadonlyArray<AgentId>) =>
  Effect.map(
    read<Pick<OldResult, "agent_id">>(pg, statement, [agents]),
    (rows): ReadonlySet<AgentId> => new Set(rows.map((row) => row.agent_id)),
  )

const findAged = ({ from, key, table }: (typeof agedTables)[AgedName]): string =>
  `SELECT ${key} AS key FROM ${table} WHERE ${from} < $1 ORDER BY ${from} LIMIT $2 FOR UPDATE SKIP LOCKED`

const hasOpenNotification = (incidentId: string): string =>
  `EXISTS (
     SELECT FROM outbox AS other
     WHERE other.incident_id = ${incidentId} AND other.state IN ('pending', 'sending', 'retry')
   )`

/** Reads outbox items after `$1` in the order of their ids, with facts of their incidents. */
const findOutbox = `SELECT o.id AS key, o.created_at, o.updated_at, i.id AS incident_id, i.resolved_at,
         ${hasOpenNotification("o.incident_id")} AS has_unfinished_notification
  FROM (SELECT * FROM outbox WHERE id > $1 ORDER BY id LIMIT $2) AS o
  LEFT JOIN incident AS i ON i.id = o.incident_id
  ORDER BY o.id`

interface OutboxRow extends Omit<RetentionFacts["outbox"], "incident"> {
  readonly incident_id: string | null
  readonly resolved_at: Instant | null
  readonly has_unfinished_notification: boolean
}

const toOutbox = (rows: ReadonlyArray<OutboxRow>): ReadonlyArray<RetentionFacts["outbox"]> =>
  rows.map(({ incident_id, has_unfinished_notification, resolved_at, ...row }) => ({
    ...row,
    incident:
      incident_id === null
        ? undefined
        : { resolved_at: resolved_at ?? undefined, hasUnfinishedNotification: has_unfinished_notification },
  }))

const findIncidents =
  "SELECT id AS key, opened_at, resolved_at FROM incident WHERE id > $1 ORDER BY id LIMIT $2"

const lockFreeIncidents = "SELECT id FROM incident WHERE id = ANY($1) ORDER BY id FOR UPDATE SKIP LOCKED"

const findFinishedIncidents = `SELECT given.id FROM unnest($1::text[]) AS given (id) WHERE NOT ${hasOpenNotification("given.id")}`

interface IncidentRow extends Pick<RetentionFacts["incidents"], "key" | "opened_at"> {
  readonly resolved_at: Instant | null
}

interface Id {
  readonly id: string
}

/** Locks old incidents before it looks at their notifications, none of which can be replayed then. */
const incidents = Effect.fnUntraced(function* (pg: Pg, { before, after = "", limit }: RetentionPiece) {
  const found = yield* read<IncidentRow>(pg, findIncidents, [after, limit])
  const rows = found.map((row) => ({ ...row, resolved_at: row.resolved_at ?? undefined }))
  const old = rows.filter(
    (row) =>
      RetentionRules.incidents.judge({ ...row, hasUnfinishedNotification: false }, before) === "expired",
  )
  const free = new Set<string>()
  if (old.length > 0) {
    const locked = yield* read<Id>(pg, lockFreeIncidents, [old.map(({ key }) => key)])
    const settled = yield* read<Id>(pg, findFinishedIncidents, [locked.map(({ id }) => id)])
    for (const { id } of settled) free.add(id)
  }
  return rows.map((row) => ({ ...row, hasUnfinishedNotification: !free.has(row.key) }))
})

/** Deletes at most `$2` rows by their primary key; `from` finds them, as `doomed`, for the keys `$1`. */
const removal = (table: keyof typeof storedTables, from: string, lock = "") => {
  const key: ReadonlyArray<string> = storedTables[table].key
  return `WITH doomed AS MATERIALIZED (
            SELECT ${key.map((column) => `doomed.${column}`).join(", ")} FROM ${from} LIMIT $2 ${lock}
          ),
          removed AS (
            DELETE FROM ${table} AS stored USING doomed
            WHERE ${key.map((column) => `stored.${column} = doomed.${column}`).join(" AND ")} RETURNING 1
          )
          SELECT count(*)::int4 AS removed FROM removed`
}

/** A notification that was replayed since it was found must still be sent. */
const STILL_ENDED = `AND (
  doomed.state IN ('sent', 'failed', 'discarded')
  OR NOT EXISTS (SELECT FROM incident AS i WHERE i.id = doomed.incident_id)
)`

const removals = forNames<RemovedRows, Readonly<Record<RemovedRows, string>>>(removedNames, (rows) => {
  const { table, by } = removedRows[rows]
  const { columns }: AnyShape = storedTables[table]
  const given = `ANY($1::${SQL_TYPES[columns[by]?.type ?? "text"]}[])`
  // Rows of agents have an index by agent and registration.
  if (by === "registration_id" && table !== "removed_registration")
    return removal(
      table,
      `removed_registration AS r JOIN ${table} AS doomed
         ON doomed.agent_id = r.agent_id AND doomed.registration_id = r.registration_id
       WHERE r.registration_id = ${given}`,
    )
  const from = `${table} AS doomed WHERE doomed.${by} = ${given}`
  return rows === "notifications"
    ? removal(table, `${from} ${STILL_ENDED}`, "FOR UPDATE OF doomed SKIP LOCKED")
    : removal(table, from)
})
