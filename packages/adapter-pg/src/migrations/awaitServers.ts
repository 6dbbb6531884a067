import { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Duration, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { STORAGE_TIME } from "../Database.ts"
import * as RealTime from "../RealTime.ts"

/** A server that crashed counts as running for a minute after its last report. */
const STOP_WITHIN = Duration.seconds(75)
const LOOK_AGAIN = Duration.seconds(1)

/** Servers that have reported themselves within a minute, and have not stopped. */
const FIND_SERVERS = `SELECT DISTINCT version FROM replica
  WHERE ended_at IS NULL AND abs(seen_at - ${STORAGE_TIME}) < 60000000 ORDER BY version`

/** How long to wait, for tests. */
export interface AwaitOptions {
  /** The longest wait for servers that the migration would break. */
  readonly stopWithin?: Duration.Duration
  readonly rest?: Duration.Duration
}

/**
 * Waits until the servers have stopped that a breaking migration would break: some would say that they are ready, and
 * answer each event with 500.
 */
export const awaitServers = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { rest = LOOK_AGAIN, stopWithin = STOP_WITHIN }: AwaitOptions,
) {
  const isOver = yield* RealTime.stopwatch(stopWithin)
  for (let looks = 1; ; looks++) {
    const found = yield* sql.unsafe<{ version: string }>(FIND_SERVERS).unprepared
    if (found.length === 0) return
    const versions = found.map(({ version }) => version).join(", ")
    if (isOver())
      return yield* new StorageError({
        reason: "in_use",
        message: `servers of version ${versions} run on the database, and would fail once it is migrated: stop them, then start again`,
      })
    if (looks === 1)
      yield* Effect.logWarning(
        `servers of version ${versions} run on the database, and would fail once it is migrated: stop them; the migration waits for that`,
      )
    yield* RealTime.pause(rest)
  }
})
