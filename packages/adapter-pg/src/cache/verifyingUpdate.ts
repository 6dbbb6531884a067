import type { AgentRecord } from "@tocsin/core/admission/AgentRecord"
import type { CheckRecord } from "@tocsin/core/checks/CheckRecord"
import type { AgentId, EventId } from "@tocsin/core/contract/Identifiers"
import type { Instant } from "@tocsin/core/contract/Instant"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import type { PgStatement } from "../client/PgConnection.ts"
import { quoted, SERVER_RUN } from "../tables/makeTable.ts"
import type { RowVersion } from "../transactions/Loading.ts"
import type { Versioned } from "./AgentCache.ts"

/** What a group of decisions changed of one agent, with the versions that they rely on. */
export interface AgentUpdate {
  readonly agent: Versioned<AgentRecord>
  readonly checks: ReadonlyArray<Versioned<CheckRecord>>
}

/**
 * Writes what was decided on cached rows if these are unchanged: a transaction of one statement and
 * one trip.
 *
 * It locks the agents that have the given version and that no other transaction holds. So it waits
 * for no agent and takes part in no deadlock over agents. Agents that are stale or held are left
 * out with their checks.
 *
 * Each transaction that changes a check changes its agent too, so a fresh agent has fresh checks
 * unless another program wrote them. The statement compares their versions nevertheless: if one
 * differs, the division by zero ends it and nothing is written.
 *
 * At READ COMMITTED PostgreSQL evaluates the condition on the version again once it has locked a
 * row that changed since the statement began, for agents in `locked` and for checks in `checks`.
 *
 * A check names its agent by its place among the given ones. `registrations` is an array with the
 * registration of a fresh agent, or NULL, at each place. A join would compare each check with each
 * agent.
 */
const updateIfFresh: PgStatement = {
  name: "update_if_fresh",
  text: `WITH given AS MATERIALIZED (
           SELECT * FROM unnest($1::text[], $2::xid[], $3::int8[], $4::int8[], $5::int4[])
             WITH ORDINALITY AS given (agent_id, version, observed_at, last_seen_at, check_count, place)
         ),
         locked AS MATERIALIZED (
           SELECT stored.ctid AS stored_at, given.*
           FROM given JOIN agent AS stored ON stored.agent_id = given.agent_id AND stored.xmin = given.version
           WHERE ${SERVER_RUN} IS NOT DISTINCT FROM $6::text
           FOR UPDATE OF stored SKIP LOCKED
         ),
         agents AS (
           UPDATE agent AS stored SET observed_at = locked.observed_at, last_seen_at = locked.last_seen_at
           FROM locked WHERE stored.ctid = locked.stored_at
           RETURNING locked.place, stored.agent_id, stored.registration_id, locked.check_count
         ),
         registrations AS MATERIALIZED (
           SELECT array_agg(agents.registration_id ORDER BY given.place) AS at
           FROM given LEFT JOIN agents ON agents.place = given.place
         ),
         checks AS (
           UPDATE check_state AS stored
           SET last_observed_at = given.last_observed_at, received_at = given.received_at,
               summary = given.summary, seen_event_ids = given.seen_event_ids
           FROM unnest($8::int4[], $9::text[], $10::xid[], $11::int8[], $12::int8[], $13::text[], $14::json[])
             AS given (place, check_id, version, last_observed_at, received_at, summary, seen_event_ids)
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
                CASE WHEN written.agents < $7 THEN (SELECT array_agg(agent_id) FROM agents) END AS fresh
         FROM written`,
}

/** The agents that were written, and the version that their rows have now. */
export interface Written {
  readonly version: RowVersion
  readonly isFresh: (agentId: AgentId) => boolean
}

/** The version of the rows that a transaction wrote. */
export const versionOf = (transactionId: bigint): RowVersion => Number(BigInt.asUintN(32, transactionId))

/** The row of {@link updateIfFresh}. */
interface Told {
  readonly agents: number
  readonly transaction_id: bigint
  readonly fresh: ReadonlyArray<AgentId> | null
}

/** Writes the updates of fresh agents; see {@link updateIfFresh}. */
export const writeIfFresh = Effect.fnUntraced(function* (
  pg: PgClient["Service"],
  updates: ReadonlyArray<AgentUpdate>,
  serverRun: string | null,
): Effect.fn.Return<Written, SqlError.SqlError> {
  const parameters = [...agentArrays(updates), serverRun, updates.length, ...checkArrays(updates)]
  const rows = yield* pg.query(updateIfFresh, parameters)
  // One row with these columns, always.
  const { agents, fresh, transaction_id } = rows[0] as unknown as Told
  const freshIds = new Set(fresh)
  const isFresh = agents === updates.length ? () => true : (agentId: AgentId) => freshIds.has(agentId)
  return { version: versionOf(transaction_id), isFresh }
})

// Written out instead of derived by `columnArrays`, since every unchanged result passes here: it
// takes a quarter of the time.

/** The columns of agents as array literals, in the order of the statement's parameters. */
const agentArrays = (updates: ReadonlyArray<AgentUpdate>): ReadonlyArray<string> => {
  let agentIds = ""
  let versions = ""
  let observed = ""
  let seen = ""
  let counts = ""
  for (const { agent, checks } of updates) {
    agentIds += `,${quoted(agent.row.agent_id)}`
    versions += `,${agent.version}`
    observed += `,${agent.row.observed_at}`
    seen += `,${agent.row.last_seen_at}`
    counts += `,${checks.length}`
  }
  return [agentIds, versions, observed, seen, counts].map(literal)
}

/** The columns of checks, each with the place of its agent, from 1. */
const checkArrays = (updates: ReadonlyArray<AgentUpdate>): ReadonlyArray<string> => {
  let places = ""
  let checkIds = ""
  let versions = ""
  let observed = ""
  let received = ""
  let summaries = ""
  let eventIds = ""
  let place = 0
  for (const { checks } of updates) {
    place += 1
    const instant = rememberingDigits()
    for (const { row, version } of checks) {
      places += `,${place}`
      checkIds += `,${quoted(row.check_id)}`
      versions += `,${version}`
      observed += `,${row.last_observed_at}`
      received += `,${instant(row.received_at)}`
      summaries += row.summary === undefined ? ",NULL" : `,${quoted(row.summary)}`
      eventIds += `,${jsonOf(row.seen_event_ids)}`
    }
  }
  return [places, checkIds, versions, observed, received, summaries, eventIds].map(literal)
}

const literal = (elements: string): string => `{${elements.slice(1)}}`

/** The digits of an instant. It keeps the last ones, since the results of a batch share one. */
const rememberingDigits = () => {
  let last: Instant | undefined
  let digits = ""
  return (instant: Instant): string => {
    if (instant !== last) {
      last = instant
      digits = String(instant)
    }
    return digits
  }
}

/** Event ids as JSON in an element of an array literal. UUIDs need no escapes. */
const jsonOf = (eventIds: ReadonlyArray<EventId>): string =>
  `"[${eventIds.map((id) => `\\"${id}\\"`).join(",")}]"`
