import { Duration, type Redacted } from "effect"
import { ASK_ROLE, RUNS_NO_TRIGGER } from "./Primary.ts"
import { settingsTerms } from "./script.ts"

/** A host on which several pools have connections. */
export interface PgHost {
  /**
   * When an answer last failed to come, by `performance.now`. Connections of the host that have not
   * answered since may be dead, and are closed.
   */
  silentSince: number
}

/** How to reach one database, with limits. */
export interface PgPoolOptions {
  /**
   * `postgres://user:password@host:port/database`, with parameters such as `?sslmode=verify-full`.
   */
  readonly url: Redacted.Redacted
  /**
   * The most connections, 10 by default. If all are in use, callers wait for `connectTimeout` at
   * most.
   */
  readonly maxConnections?: number
  /** The longest wait for a connection, new or free: 5 seconds by default. */
  readonly connectTimeout?: Duration.Input
  /**
   * The longest wait for the answer to a statement, and on closing for connections in use: 11
   * seconds by default. A statement that takes longer loses its connection. The server's own limit
   * should be shorter.
   */
  readonly replyTimeout?: Duration.Input
  /** The name in `pg_stat_activity`, `tocsin` by default. */
  readonly applicationName?: string
  /** The server's own setting by default. */
  readonly statementTimeout?: Duration.Input
  /** The server's own setting by default. */
  readonly lockTimeout?: Duration.Input
  /**
   * None by default. PostgreSQL closes a connection whose transaction idles longer.
   */
  readonly idleInTransactionTimeout?: Duration.Input
  /** Shared with other pools on the same host; private to this pool by default. */
  readonly host?: PgHost
  /** Further server settings for every connection, such as `jit: "off"`. */
  readonly settings?: Readonly<Record<string, string>>
}

/**
 * `replyTimeout` for migrations and copies, whose statements may take hours. Keep-alive detects a
 * lost host.
 */
export const LONG_WORK = Duration.hours(6)

// PostgreSQL takes whole milliseconds, and 0 for no limit: round up.
const millis = (duration: Duration.Input): string => String(Math.ceil(Duration.toMillis(duration)))

// PostgreSQL has this limit since version 17.
const LIFT_TRANSACTION_TIMEOUT = `CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL
  THEN set_config('transaction_timeout', '0', false) END`

const settingsOf = (options: PgPoolOptions): Readonly<Record<string, string>> => {
  const { idleInTransactionTimeout, lockTimeout, statementTimeout } = options
  return {
    // Parameters that are arrays contain it.
    array_nulls: "on",
    ...(statementTimeout !== undefined && { statement_timeout: millis(statementTimeout) }),
    ...(lockTimeout !== undefined && { lock_timeout: millis(lockTimeout) }),
    // A limit of the role or database would close connections between two statements.
    idle_in_transaction_session_timeout: millis(idleInTransactionTimeout ?? 0),
    idle_session_timeout: "0",
    ...options.settings,
  }
}

/** The first statement on each connection: it asks what `PgConnection.setUp` returns, and changes settings. */
export const setUpStatement = (options: PgPoolOptions): string => {
  const settings = settingsTerms(settingsOf(options), "session ends")
  return [ASK_ROLE, RUNS_NO_TRIGGER, LIFT_TRANSACTION_TIMEOUT, ...settings].join(", ")
}
