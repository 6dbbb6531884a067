import { Duration, type Redacted } from "effect"

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
