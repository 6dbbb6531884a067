import type { RetentionTables } from "@tocsin/core/retention/retentionPiece"
import type { RemovedRows } from "@tocsin/core/retention/RetentionRules"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import type { PgStatement } from "../client/PgConnection.ts"

type Tables = RetentionTables<"effect", SqlError.SqlError>

interface Removal {
  readonly table: string
  /** What its rows are deleted by. */
  readonly key: ReadonlyArray<string>
  /** Where `doomed` rows of the keys `$1` are found. */
  readonly from: string
  readonly lock?: string
}

const OF_AGENTS = (table: string) =>
  `removed_registration AS r JOIN ${table} AS doomed
     ON doomed.agent_id = r.agent_id AND doomed.registration_id = r.registration_id
   WHERE r.registration_id = ANY($1::uuid[])`

const ofIncidents = (table: string, ...key: ReadonlyArray<string>): Removal => ({
  table,
  key: ["incident_id", ...key],
  from: `${table} AS doomed WHERE doomed.incident_id = ANY($1)`,
})

const removals: Readonly<Record<RemovedRows, Removal>> = {
  checks_of_agents: {
    table: "check_state",
    key: ["agent_id", "check_id", "registration_id"],
    from: OF_AGENTS("check_state"),
  },
  results_of_agents: { table: "check_event", key: ["seq"], from: OF_AGENTS("check_event") },
  agents: {
    table: "removed_registration",
    key: ["registration_id"],
    from: "removed_registration AS doomed WHERE doomed.registration_id = ANY($1::uuid[])",
  },
  results: {
    table: "check_event",
    key: ["seq"],
    from: "check_event AS doomed WHERE doomed.seq = ANY($1::bigint[])",
  },
  notifications: {
    table: "outbox",
    key: ["id"],
    // One that was replayed since it was found must still go out.
    from: `outbox AS doomed WHERE doomed.id = ANY($1) AND (
             doomed.state IN ('sent', 'failed', 'discarded')
             OR NOT EXISTS (SELECT FROM incident AS i WHERE i.id = doomed.incident_id)
           )`,
    lock: "FOR UPDATE OF doomed SKIP LOCKED",
  },
  members: ofIncidents("incident_member", "agent_id", "check_id"),
  changes: ofIncidents("incident_change", "seq"),
  alerts: ofIncidents("alert", "severity"),
  incidents: { table: "incident", key: ["id"], from: "incident AS doomed WHERE doomed.id = ANY($1)" },
}

const statementOf = (name: string, { table, key, from, lock = "" }: Removal): PgStatement => ({
  name: `expire_${name}`,
  text: `WITH doomed AS MATERIALIZED (
           SELECT ${key.map((column) => `doomed.${column}`).join(", ")} FROM ${from} LIMIT $2 ${lock}
         ),
         removed AS (
           DELETE FROM ${table} AS stored USING doomed
           WHERE ${key.map((column) => `stored.${column} = doomed.${column}`).join(" AND ")} RETURNING 1
         )
         SELECT count(*)::int4 AS removed FROM removed`,
})

const keepHistory: PgStatement = {
  name: "keep_history",
  text: "UPDATE check_event SET is_kept = true WHERE seq = ANY($1::bigint[])",
}

/** How retention removes rows, and keeps results, inside its transaction. */
export const retentionRemovals = (pg: PgClient["Service"]): Pick<Tables, "remove" | "setAside"> => {
  const remove = (name: RemovedRows) => {
    const statement = statementOf(name, removals[name])
    return (keys: ReadonlyArray<string>, limit: number) =>
      Effect.map(pg.query(statement, [keys, limit]), (rows) => Number(rows[0]?.["removed"]))
  }
  return {
    setAside: (keys) => Effect.asVoid(pg.query(keepHistory, [keys])),
    remove: {
      checks_of_agents: remove("checks_of_agents"),
      results_of_agents: remove("results_of_agents"),
      agents: remove("agents"),
      results: remove("results"),
      notifications: remove("notifications"),
      members: remove("members"),
      changes: remove("changes"),
      alerts: remove("alerts"),
      incidents: remove("incidents"),
    },
  }
}
