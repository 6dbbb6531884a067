import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Duration, Effect, Option, Result } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import type { PgPoolOptions } from "../client/PgPoolOptions.ts"
import { connect } from "../Database.ts"
import { toStorageError } from "../toStorageError.ts"
import { SHORT } from "./inspectStorage.ts"

/** Facts that several sessions at once show, and a commit. */
export interface SessionInspection {
  /** How many servers answer what only reads: more than one behind a balancer. */
  readonly servers: number
  /** Whether a pooler may give each transaction another session, so that settings of a session do not last. */
  readonly isExchanged: boolean
  /** PostgreSQL's name of an event for which a commit waits in vain: `SyncRep` is a synchronous standby. */
  readonly commitWaitsFor: string | undefined
}

/** Each has its own session, for which a pooler chooses a server. */
const ASKED_CONNECTIONS = 6

/**
 * pgpool-II 4.3 sends what a volatile function asks to the primary, such as `pg_is_in_recovery()`, so this asks a stable
 * one of the server.
 */
const ASK_SERVER = "SELECT pg_postmaster_start_time()::text AS found"
const MARK = "SELECT set_config('tocsin.session', $1, false) AS found"
const ASK_MARK = "SELECT current_setting('tocsin.session', true) AS found"

const ask = (
  connection: SqlConnection.Connection,
  statement: string,
  parameters: ReadonlyArray<string> = [],
) => Effect.map(connection.executeUnprepared(statement, parameters, undefined), ([row]) => row?.["found"])

/** How many servers there are, and whether what a session sets lasts. */
const compareSessions = Effect.fnUntraced(function* (options: PgPoolOptions) {
  const { sql } = yield* connect({ ...options, ...SHORT, maxConnections: ASKED_CONNECTIONS })
  const reserved = Array.from({ length: ASKED_CONNECTIONS }, () => Effect.option(sql.reserve))
  const opened = yield* Effect.all(reserved, { concurrency: "unbounded" })
  const sessions = opened.flatMap(Option.toArray)
  const servers = yield* Effect.forEach(
    sessions,
    (session, at) => Effect.andThen(ask(session, MARK, [String(at)]), ask(session, ASK_SERVER)),
    { concurrency: "unbounded" },
  )
  // One after another, so that a pooler may lend the same session to each.
  const marks = yield* Effect.forEach(sessions, (session) => ask(session, ASK_MARK))
  return {
    servers: new Set(servers).size,
    isExchanged: marks.some((mark, at) => mark !== String(at)),
  }
}, Effect.scoped)

/** Writes nothing that anything reads, and so changes nothing; its commit is one like all others. */
const WRITE = "SELECT pg_backend_pid() AS pid FROM pg_logical_emit_message(true, 'tocsin', '')"

/** Ends the wait too: without its client, the session would stay until the standby is back. */
const ASK_WAIT = `SELECT wait_event AS waits, CASE WHEN pg_has_role(usesysid, 'USAGE') THEN pg_cancel_backend(pid) END
  FROM pg_stat_activity WHERE pid = $1`

const COMMIT_WITHIN = Duration.seconds(5)

/** Commits, and asks what a commit waits for. Cancelled, PostgreSQL keeps it on the primary alone. */
const tryCommit = Effect.fnUntraced(function* (options: PgPoolOptions) {
  const { sql } = yield* connect({ ...options, ...SHORT, replyTimeout: COMMIT_WITHIN, maxConnections: 1 })
  let pid: number | undefined
  const write = Effect.map(sql.unsafe<{ pid: number }>(WRITE).unprepared, ([row]) => {
    pid = row?.pid
  })
  const committed = yield* Effect.result(sql.withTransaction(write))
  if (Result.isSuccess(committed)) return undefined
  if (pid === undefined || committed.failure.reason.operation !== "commit") return yield* committed.failure
  const { sql: other } = yield* connect({ ...options, ...SHORT, maxConnections: 1 })
  const [found] = yield* other.unsafe<{ waits: string | null }>(ASK_WAIT, [pid]).unprepared
  return found?.waits ?? "unknown"
}, Effect.scoped)

/** Inspects a database that takes writes, without changing it. Fails where it is unreachable or slow to answer. */
export const inspectSessions = Effect.fn("inspectSessions")(function* (
  options: PgPoolOptions,
): Effect.fn.Return<SessionInspection, SqlError.SqlError | StorageError> {
  return { ...(yield* compareSessions(options)), commitWaitsFor: yield* tryCommit(options) }
}, Effect.mapError(toStorageError))
