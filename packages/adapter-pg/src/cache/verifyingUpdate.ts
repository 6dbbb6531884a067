import type { AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { CheckRecord } from "@tocsin/core/checks/CheckRecord"
import type { AgentId } from "@tocsin/core/contract/Identifiers"
import type { Instant } from "@tocsin/core/contract/Instant"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import type { PgStatement } from "../client/PgConnection.ts"
import type { RowVersion, Versioned } from "./AgentCache.ts"

/**
 * Writes what was decided on cached rows, if they still are what they were; a transaction of one statement and one trip.
 *
 * It locks the agents whose row is of the given version and that nobody holds, so it waits for no agent and cannot be part
 * of a deadlock over them. An agent's lock guards its checks, and each transaction that changes checks changes their agent
 * too, so an agent that is fresh has fresh checks, unless somebody wrote past this service. Their versions are compared
 * nevertheless: where one differs although the agent did not, the division by zero ends the statement, and nothing is kept.
 * One agent that is stale is left out, with its checks, and does not disturb the others.
 *
 * At READ COMMITTED a row that was changed since the statement began is looked at again once it is locked, as it is by
 * then: in `locked` the agents, by the condition on their version; in `checks` the checks, likewise.
 *
 * OFFSET 0 keeps the join as written, in which each check is found by its key.
 */
const updateIfFresh: PgStatement = {
  name: "update_if_fresh",
  text: `WITH locked AS MATERIALIZED (
           SELECT stored.ctid AS place, given.*
           FROM json_to_recordset($1) AS given
                  (agent_id text, version xid, observed_at int8, last_seen_at int8, check_count int4, checks json)
           JOIN agent AS stored ON stored.agent_id = given.agent_id AND stored.xmin = given.version
           WHERE pg_stat_get_bgwriter_stat_reset_time() IS NOT DISTINCT FROM $2::timestamptz
           FOR UPDATE OF stored SKIP LOCKED
         ),
         agents AS (
           UPDATE agent AS stored SET observed_at = locked.observed_at, last_seen_at = locked.last_seen_at
           FROM locked WHERE stored.ctid = locked.place
           RETURNING stored.agent_id, stored.registration_id, locked.check_count, locked.checks
         ),
         checks AS (
           UPDATE check_state AS stored
           SET last_observed_at = given.last_observed_at, received_at = given.received_at,
               summary = given.summary, seen_event_ids = given.seen_event_ids
           FROM (
             SELECT agents.agent_id, agents.registration_id, of_agent.*
             FROM agents CROSS JOIN LATERAL json_to_recordset(agents.checks) AS of_agent
                    (check_id text, version xid, last_observed_at int8, received_at int8, summary text, seen_event_ids json)
             OFFSET 0
           ) AS given
           WHERE stored.agent_id = given.agent_id AND stored.check_id = given.check_id
             AND stored.registration_id = given.registration_id AND stored.xmin = given.version
           RETURNING 1
         ),
         written AS (
           SELECT count(*)::int4 AS agents, coalesce(sum(check_count), 0) AS checks_expected,
                  (SELECT count(*) FROM checks) AS checks
           FROM agents
         )
         SELECT written.agents, pg_current_xact_id() AS transaction_id,
                1 / (written.checks = written.checks_expected)::int4 AS consistent,
                CASE WHEN written.agents < $3 THEN (SELECT array_agg(agent_id) FROM agents) END AS fresh
         FROM written`,
}

/** What a group of decisions made of one agent, and the versions they rely on. */
export interface AgentUpdate {
  readonly agent: Versioned<AgentRecord>
  readonly checks: ReadonlyArray<Versioned<CheckRecord>>
}

/** Which agents were written, and the version that their rows have now. */
export interface Written {
  readonly version: RowVersion
  readonly isFresh: (agentId: AgentId) => boolean
}

/** 64-bit integers go into JSON as text of their digits. */
const digits = (instant: Instant): string => instant.toString()

const encode = ({ agent: { row, version }, checks }: AgentUpdate) => ({
  agent_id: row.agent_id,
  version,
  observed_at: digits(row.observed_at),
  last_seen_at: digits(row.last_seen_at),
  check_count: checks.length,
  ...(checks.length > 0 && { checks: checks.map(encodeCheck) }),
})

const encodeCheck = ({ row, version }: Versioned<CheckRecord>) => ({
  check_id: row.check_id,
  version,
  last_observed_at: digits(row.last_observed_at),
  received_at: digits(row.received_at),
  summary: row.summary,
  seen_event_ids: row.seen_event_ids,
})

/** The version of rows that a transaction wrote. */
export const versionOf = (transactionId: bigint): RowVersion => Number(BigInt.asUintN(32, transactionId))

/** The row of {@link updateIfFresh}. */
interface Told {
  readonly agents: number
  readonly transaction_id: bigint
  readonly fresh: ReadonlyArray<AgentId> | null
}

/** Writes those updates whose agents are fresh, each agent's all or none; see {@link updateIfFresh}. */
export const writeIfFresh = Effect.fnUntraced(function* (
  pg: PgClient["Service"],
  updates: ReadonlyArray<AgentUpdate>,
  serverRun: string | null,
): Effect.fn.Return<Written, SqlError.SqlError> {
  const parameters = [JSON.stringify(updates.map(encode)), serverRun, updates.length]
  const rows = yield* pg.query(updateIfFresh, parameters)
  // One row with these columns, always.
  const { agents, fresh, transaction_id } = rows[0] as unknown as Told
  const freshIds = new Set(fresh)
  const isFresh = agents === updates.length ? () => true : (agentId: AgentId) => freshIds.has(agentId)
  return { version: versionOf(transaction_id), isFresh }
})
