import type { AgentRecord } from "@tocsin/core/heart/model/AgentRecord"
import type { CheckRecord } from "@tocsin/core/heart/model/CheckRecord"
import type { AgentId } from "@tocsin/contract/formats/Identifiers"
import { storedTables } from "@tocsin/core/lists/StoredTables"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import { quoted } from "../client/upstreamDefects.ts"
import { arrayParameters, assignments, columnArrays, movingColumns, SERVER_RUN } from "../tables/makeTable.ts"
import type { RowVersion } from "../transactions/loadRows.ts"
import type { Versioned } from "./AgentCache.ts"

export interface AgentUpdate {
  readonly agent: Versioned<AgentRecord>
  readonly checks: ReadonlyArray<Versioned<CheckRecord>>
}

const agentMoves = movingColumns(storedTables.agent)
const checkMoves = movingColumns(storedTables.check_state)

/** The numbers of the first parameters for the moving columns, after the eight others. */
const AGENT_MOVES = 9
const CHECK_MOVES = AGENT_MOVES + Object.keys(agentMoves).length

/**
 * Writes what was decided on cached rows if these are unchanged: a transaction of one statement and one trip.
 * It locks the agents of the given version that are free, so it waits for none and is in no deadlock over agents.
 * At READ COMMITTED, PostgreSQL checks the version again once it has locked a row that changed meanwhile.
 *
 * Each transaction that changes a check changes its agent too, so a fresh agent has fresh checks unless another
 * program wrote them. If a version differs nevertheless, the division by zero ends the statement.
 *
 * A check names its agent by its place among the given ones, where `registrations` has the registration of a
 * fresh agent, or NULL. A join would compare each check with each agent.
 */
const updateIfFresh = `WITH given AS MATERIALIZED (
    SELECT * FROM unnest($1::text[], $2::xid[], $3::int4[], ${arrayParameters(agentMoves, AGENT_MOVES)})
      WITH ORDINALITY AS given (agent_id, version, check_count, ${Object.keys(agentMoves).join(", ")}, place)
  ),
  locked AS MATERIALIZED (
    SELECT stored.ctid AS stored_at, given.*
    FROM given JOIN agent AS stored ON stored.agent_id = given.agent_id AND stored.xmin = given.version
    WHERE ${SERVER_RUN} IS NOT DISTINCT FROM $4::text
    FOR UPDATE OF stored SKIP LOCKED
  ),
  agents AS (
    UPDATE agent AS stored SET ${assignments(agentMoves, "locked")}
    FROM locked WHERE stored.ctid = locked.stored_at
    RETURNING locked.place, stored.agent_id, stored.registration_id, locked.check_count
  ),
  registrations AS MATERIALIZED (
    SELECT array_agg(agents.registration_id ORDER BY given.place) AS at
    FROM given LEFT JOIN agents ON agents.place = given.place
  ),
  checks AS (
    UPDATE check_state AS stored SET ${assignments(checkMoves, "given")}
    FROM unnest($6::int4[], $7::text[], $8::xid[], ${arrayParameters(checkMoves, CHECK_MOVES)})
      AS given (place, check_id, version, ${Object.keys(checkMoves).join(", ")})
    WHERE stored.agent_id = ($1::text[])[given.place] AND stored.check_id = given.check_id
      AND stored.registration_id = (SELECT at FROM registrations)[given.place]
      AND stored.xmin = given.version
    RETURNING 1
  ),
  written AS (
    SELECT count(*)::int4 AS agents, coalesce(sum(check_count), 0) AS checks_expected,
           (SELECT count(*) FROM checks) AS checks
    FROM agents
  )
  SELECT written.agents, pg_current_xact_id() AS transaction_id,
         1 / (written.checks = written.checks_expected)::int4 AS consistent,
         CASE WHEN written.agents < $5 THEN (SELECT array_agg(agent_id) FROM agents) END AS fresh
  FROM written`

export interface Written {
  readonly version: RowVersion
  readonly isFresh: (agentId: AgentId) => boolean
}

export const versionOf = (transactionId: bigint): RowVersion => Number(BigInt.asUintN(32, transactionId))

interface Notified {
  readonly agents: number
  readonly transaction_id: bigint
  readonly fresh: ReadonlyArray<AgentId> | null
}

export const compareAndSwap = Effect.fnUntraced(function* (
  pg: PgClient["Service"],
  updates: ReadonlyArray<AgentUpdate>,
  serverRun: string | null,
): Effect.fn.Return<Written, SqlError.SqlError> {
  const rows = yield* pg.query(updateIfFresh, parametersOf(updates, serverRun))
  // One row with these columns, always.
  const { agents, fresh, transaction_id } = rows[0] as unknown as Notified
  const freshIds = new Set(fresh)
  const isFresh = agents === updates.length ? () => true : (agentId: AgentId) => freshIds.has(agentId)
  return { version: versionOf(transaction_id), isFresh }
})

/** The parameters of {@link updateIfFresh}. Each check has the place of its agent, from 1 on. */
const parametersOf = (
  updates: ReadonlyArray<AgentUpdate>,
  serverRun: string | null,
): ReadonlyArray<unknown> => {
  const agentRows = updates.map(({ agent }) => agent.row)
  const checkRows: Array<CheckRecord> = []
  let agentIds = ""
  let agentVersions = ""
  let counts = ""
  let places = ""
  let checkIds = ""
  let checkVersions = ""
  for (const [index, { agent, checks }] of updates.entries()) {
    agentIds += `,${quoted(agent.row.agent_id)}`
    agentVersions += `,${agent.version}`
    counts += `,${checks.length}`
    for (const { row, version } of checks) {
      checkRows.push(row)
      places += `,${index + 1}`
      checkIds += `,${quoted(row.check_id)}`
      checkVersions += `,${version}`
    }
  }
  return [
    ...[agentIds, agentVersions, counts].map(literal),
    serverRun,
    updates.length,
    ...[places, checkIds, checkVersions].map(literal),
    ...columnArrays(agentMoves, agentRows),
    ...columnArrays(checkMoves, checkRows),
  ]
}

const literal = (elements: string): string => `{${elements.slice(1)}}`
