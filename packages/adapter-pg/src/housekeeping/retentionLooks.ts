import type { AgentId } from "@tocsin/core/contract/Identifiers"
import type { Instant } from "@tocsin/core/contract/Instant"
import type { RetentionPiece, RetentionTables } from "@tocsin/core/retention/retentionPiece"
import type { RetentionFacts } from "@tocsin/core/retention/RetentionRules"
import { Effect } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import type { PgStatement } from "../client/PgConnection.ts"

type Pg = PgClient["Service"]
type Looks = RetentionTables<"effect", SqlError.SqlError>["look"]

/** Locks some registrations of deleted agents, passing over those that another process works on. */
const lockRemovedRegistrations: PgStatement = {
  name: "lock_removed_registrations",
  text: `SELECT registration_id AS key FROM removed_registration
         ORDER BY registration_id LIMIT $1 FOR UPDATE SKIP LOCKED`,
}

/** Finds the oldest results received before `$1` and not set aside, except those of the agents `$3`. */
const findOldHistory: PgStatement = {
  name: "find_old_history",
  text: `SELECT seq, agent_id FROM check_event
         WHERE NOT is_kept AND received_at < $1 AND agent_id <> ALL($3) ORDER BY received_at LIMIT $2`,
}

/** Locks agents against new results, except agents that another session holds. */
const lockFreeAgentsForShare: PgStatement = {
  name: "lock_free_agents_for_share",
  text: "SELECT agent_id FROM agent WHERE agent_id = ANY($1) ORDER BY agent_id FOR SHARE SKIP LOCKED",
}

const findAgentIds: PgStatement = {
  name: "find_agent_ids",
  text: "SELECT agent_id FROM agent WHERE agent_id = ANY($1)",
}

/** Says of results whether they are the newest of their checks. */
const judgeNewest: PgStatement = {
  name: "find_newest_history",
  text: `SELECT e.seq::text AS key, NOT EXISTS (
           SELECT FROM check_event AS newer
           WHERE newer.agent_id = e.agent_id AND newer.check_id = e.check_id
             AND newer.registration_id = e.registration_id AND newer.seq + 0 > e.seq
         ) AS "isNewest"
         FROM check_event AS e WHERE e.seq = ANY($1)`,
}

/** Reads outbox items after `$1` in the order of their ids, and what is known of their incidents. */
const findOutbox: PgStatement = {
  name: "find_outbox_in_order",
  text: `SELECT o.id AS key, o.created_at, o.updated_at, i.id AS incident_id, i.resolved_at,
                EXISTS (
                  SELECT FROM outbox AS other
                  WHERE other.incident_id = o.incident_id AND other.state IN ('pending', 'sending', 'retry')
                ) AS is_held
         FROM (SELECT * FROM outbox WHERE id > $1 ORDER BY id LIMIT $2) AS o
         LEFT JOIN incident AS i ON i.id = o.incident_id
         ORDER BY o.id`,
}

/** Reads incidents after `$1` in the order of their ids. */
const findIncidents: PgStatement = {
  name: "find_incidents_in_order",
  text: "SELECT id AS key, opened_at, resolved_at FROM incident WHERE id > $1 ORDER BY id LIMIT $2",
}

/** Locks incidents, passing over those that another transaction works on. */
const lockFreeIncidents: PgStatement = {
  name: "lock_free_incidents",
  text: "SELECT id FROM incident WHERE id = ANY($1) ORDER BY id FOR UPDATE SKIP LOCKED",
}

/** Finds those of some incidents whose notifications have all ended. */
const findSettledIncidents: PgStatement = {
  name: "find_settled_incidents",
  text: `SELECT given.id FROM unnest($1::text[]) AS given (id)
         WHERE NOT EXISTS (
           SELECT FROM outbox AS o
           WHERE o.incident_id = given.id AND o.state IN ('pending', 'sending', 'retry')
         )`,
}

// The columns of each row are those of its statement; nobody else writes the tables.
const read = <Row>(pg: Pg, statement: PgStatement, parameters: ReadonlyArray<unknown>) =>
  Effect.map(
    pg.query(statement, parameters),
    (rows: ReadonlyArray<SqlConnection.Row>) => rows as unknown as ReadonlyArray<Row>,
  )

interface OldResult {
  readonly seq: bigint
  readonly agent_id: AgentId
}

/** Finds old results of agents that nobody else holds; adds those that somebody does to `held`. */
const history = Effect.fnUntraced(function* (
  pg: Pg,
  { before, limit }: RetentionPiece,
  held: Set<AgentId>,
): Effect.fn.Return<ReadonlyArray<RetentionFacts["history"]>, SqlError.SqlError> {
  for (;;) {
    const old = yield* read<OldResult>(pg, findOldHistory, [before, limit, Array.from(held)])
    if (old.length === 0) return []
    const agents = Array.from(new Set(old.map((row) => row.agent_id)))
    const locked = yield* agentsOf(pg, lockFreeAgentsForShare, agents)
    // An agent that is deleted stores no more results, so nobody need keep them out.
    const missing = agents.filter((agentId) => !locked.has(agentId))
    const others = missing.length === 0 ? NONE : yield* agentsOf(pg, findAgentIds, missing)
    if (others.size === 0) {
      return yield* read<RetentionFacts["history"]>(pg, judgeNewest, [old.map((row) => row.seq)])
    }
    // Results of other agents take the places of theirs.
    for (const agentId of others) held.add(agentId)
  }
})

const NONE: ReadonlySet<AgentId> = new Set()

const agentsOf = (pg: Pg, statement: PgStatement, agents: ReadonlyArray<AgentId>) =>
  Effect.map(
    read<Pick<OldResult, "agent_id">>(pg, statement, [agents]),
    (rows): ReadonlySet<AgentId> => new Set(rows.map((row) => row.agent_id)),
  )

interface OutboxFacts extends Omit<RetentionFacts["outbox"], "incident"> {
  readonly incident_id: string | null
  readonly resolved_at: Instant | null
  readonly is_held: boolean
}

const outbox = (pg: Pg, { after = "", limit }: RetentionPiece) =>
  Effect.map(read<OutboxFacts>(pg, findOutbox, [after, limit]), (rows) =>
    rows.map((row) => ({
      ...row,
      incident:
        row.incident_id === null
          ? undefined
          : { resolved_at: row.resolved_at ?? undefined, isHeld: row.is_held },
    })),
  )

interface IncidentFacts extends Pick<RetentionFacts["incidents"], "key" | "opened_at"> {
  readonly resolved_at: Instant | null
}

/**
 * Locks incidents that are old enough before it looks at their notifications: no notification of a
 * locked incident can be replayed.
 */
const incidents = Effect.fnUntraced(function* (pg: Pg, { before, after = "", limit }: RetentionPiece) {
  const rows = yield* read<IncidentFacts>(pg, findIncidents, [after, limit])
  const old = rows.filter(({ resolved_at }) => resolved_at !== null && resolved_at < before)
  let settled: ReadonlyArray<{ readonly id: string }> = []
  if (old.length > 0) {
    const locked = yield* read<{ readonly id: string }>(pg, lockFreeIncidents, [old.map(({ key }) => key)])
    settled = yield* read<{ readonly id: string }>(pg, findSettledIncidents, [locked.map(({ id }) => id)])
  }
  const free = new Set(settled.map(({ id }) => id))
  return rows.map(({ key, opened_at, resolved_at }) => ({
    key,
    opened_at,
    resolved_at: resolved_at ?? undefined,
    isHeld: !free.has(key),
  }))
})

/** How retention finds rows, inside its transaction. Adds agents that another session holds to `held`. */
export const retentionLooks = (pg: Pg, held: Set<AgentId>): Looks => ({
  deleted_agents: ({ limit }) => read(pg, lockRemovedRegistrations, [limit]),
  history: (piece) => history(pg, piece, held),
  outbox: (piece) => outbox(pg, piece),
  incidents: (piece) => incidents(pg, piece),
})
