import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgStatement } from "../client/PgConnection.ts"
import type { Database } from "../Database.ts"
import type { RemovedRegistration } from "../tables/AgentTable.ts"
import { indexedTransaction } from "../transactions/indexedTransaction.ts"

/** Thousands of agents may be deleted at once that had neither checks nor history: they are dealt with many at a time. */
const REGISTRATIONS_AT_ONCE = 200

/** Locks some registrations of deleted agents, passing over those that another process is purging. */
const lockRemovedRegistrations: PgStatement = {
  name: "lock_removed_registrations",
  text: `SELECT agent_id, registration_id FROM removed_registration
         ORDER BY registration_id LIMIT ${REGISTRATIONS_AT_ONCE} FOR UPDATE SKIP LOCKED`,
}

const GIVEN = "json_to_recordset($1) AS given (agent_id text, registration_id uuid)"

/** Deletes at most `$2` checks of registrations. */
const deleteChecks: PgStatement = {
  name: "purge_check_state",
  text: `WITH doomed AS (
           SELECT c.agent_id, c.check_id, c.registration_id FROM ${GIVEN}
           JOIN check_state AS c ON c.agent_id = given.agent_id AND c.registration_id = given.registration_id
           LIMIT $2
         ), removed AS (
           DELETE FROM check_state AS c USING doomed
           WHERE c.agent_id = doomed.agent_id AND c.check_id = doomed.check_id
             AND c.registration_id = doomed.registration_id
           RETURNING 1
         )
         SELECT count(*)::int4 AS removed FROM removed`,
}

/** Deletes at most `$2` history rows of registrations. */
const deleteHistory: PgStatement = {
  name: "purge_check_event",
  text: `WITH doomed AS (
           SELECT e.seq FROM ${GIVEN}
           JOIN check_event AS e ON e.agent_id = given.agent_id AND e.registration_id = given.registration_id
           LIMIT $2
         ), removed AS (
           DELETE FROM check_event AS e USING doomed WHERE e.seq = doomed.seq RETURNING 1
         )
         SELECT count(*)::int4 AS removed FROM removed`,
}

/** Forgets registrations of which nothing is left. */
const deleteRegistrations: PgStatement = {
  name: "purge_removed_registration",
  text: `DELETE FROM removed_registration AS r USING ${GIVEN} WHERE r.registration_id = given.registration_id`,
}

/** Removes at most `limit` rows that deleted agents left behind, in one transaction; see `Storage.purge`. */
export const purge = (database: Database, limit: number): Effect.Effect<number, SqlError.SqlError> => {
  const { pg } = database
  const remove = (
    statement: PgStatement,
    registrations: ReadonlyArray<RemovedRegistration>,
    atMost: number,
  ) =>
    Effect.map(pg.query(statement, [JSON.stringify(registrations), atMost]), (rows) =>
      Number(rows[0]?.["removed"]),
    )
  return indexedTransaction(
    database,
    Effect.gen(function* () {
      let left = limit
      while (left > 0) {
        // The columns are those of the statement.
        const registrations = (yield* pg.query(
          lockRemovedRegistrations,
          [],
        )) as unknown as Array<RemovedRegistration>
        if (registrations.length === 0) break
        left -= yield* remove(deleteChecks, registrations, left)
        if (left > 0) left -= yield* remove(deleteHistory, registrations, left)
        if (left > 0) yield* pg.query(deleteRegistrations, [JSON.stringify(registrations)])
      }
      return limit - left
    }),
  )
}
