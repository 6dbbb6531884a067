import type { RetentionTables } from "@tocsin/core/retention/retentionPiece"
import type { RemovedRows } from "@tocsin/core/retention/RetentionRules"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "../client/PgClient.ts"
import type { PgStatement } from "../client/PgConnection.ts"

/** Deletes at most `$2` rows by their primary key; `from` finds them, as `doomed`, for the keys `$1`. */
const removal = (
  table: string,
  key: ReadonlyArray<string>,
  { from, lock = "" }: { readonly from: string; readonly lock?: string },
): Omit<PgStatement, "name"> => ({
  text: `WITH doomed AS MATERIALIZED (
           SELECT ${key.map((column) => `doomed.${column}`).join(", ")} FROM ${from} LIMIT $2 ${lock}
         ),
         removed AS (
           DELETE FROM ${table} AS stored USING doomed
           WHERE ${key.map((column) => `stored.${column} = doomed.${column}`).join(" AND ")} RETURNING 1
         )
         SELECT count(*)::int4 AS removed FROM removed`,
})

const ofAgents = (table: string, ...key: ReadonlyArray<string>) =>
  removal(table, key, {
    from: `removed_registration AS r JOIN ${table} AS doomed
             ON doomed.agent_id = r.agent_id AND doomed.registration_id = r.registration_id
           WHERE r.registration_id = ANY($1::uuid[])`,
  })

const ofIncidents = (table: string, ...key: ReadonlyArray<string>) =>
  removal(table, ["incident_id", ...key], {
    from: `${table} AS doomed WHERE doomed.incident_id = ANY($1)`,
  })

const given = (table: string, key: string, type: string) =>
  removal(table, [key], { from: `${table} AS doomed WHERE doomed.${key} = ANY($1::${type}[])` })

const removals: Readonly<Record<RemovedRows, Omit<PgStatement, "name">>> = {
  checks_of_agents: ofAgents("check_state", "agent_id", "check_id", "registration_id"),
  results_of_agents: ofAgents("check_event", "seq"),
  agents: given("removed_registration", "registration_id", "uuid"),
  results: given("check_event", "seq", "bigint"),
  notifications: removal("outbox", ["id"], {
    // One that was replayed since it was found must still go out.
    from: `outbox AS doomed WHERE doomed.id = ANY($1) AND (
             doomed.state IN ('sent', 'failed', 'discarded')
             OR NOT EXISTS (SELECT FROM incident AS i WHERE i.id = doomed.incident_id)
           )`,
    lock: "FOR UPDATE OF doomed SKIP LOCKED",
  }),
  members: ofIncidents("incident_member", "agent_id", "check_id"),
  changes: ofIncidents("incident_change", "seq"),
  alerts: ofIncidents("alert", "severity"),
  incidents: given("incident", "id", "text"),
}

const keepHistory: PgStatement = {
  name: "keep_history",
  text: "UPDATE check_event SET is_kept = true WHERE seq = ANY($1::bigint[])",
}

/** How retention removes rows, and keeps results, inside its transaction. */
export const retentionRemovals = (
  pg: PgClient["Service"],
): Pick<RetentionTables<"effect", SqlError.SqlError>, "remove" | "setAside"> => ({
  setAside: (keys) => Effect.asVoid(pg.query(keepHistory, [keys])),
  remove: (rows, keys, limit) =>
    Effect.map(pg.query({ name: `expire_${rows}`, ...removals[rows] }, [keys, limit]), ([row]) =>
      Number(row?.["removed"]),
    ),
})
