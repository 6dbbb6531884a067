import type { Duration, Redacted } from "effect"

/** How to reach one database, and the bounds of doing so. */
export interface PgPoolOptions {
  /** `postgres://user:password@host:port/database`; its parameters (`?sslmode=verify-full`) win over the fields below. */
  readonly url: Redacted.Redacted
  /** Connections held at most, 10 unless given. Whoever finds them all in use waits, for `connectTimeout` at most. */
  readonly maxConnections?: number
  /** The longest wait for a connection, new or free: 5 seconds unless given. */
  readonly connectTimeout?: Duration.Input
  /**
   * The longest wait for an answer that nothing can interrupt (BEGIN, COMMIT, ROLLBACK, savepoints, the end of a
   * cancelled statement), and at the end for connections still in use: 10 seconds unless given.
   */
  readonly replyTimeout?: Duration.Input
  /** What `pg_stat_activity` shows, `tocsin` unless given. */
  readonly applicationName?: string
  /** The server's own setting unless given. */
  readonly statementTimeout?: Duration.Input
  /** The server's own setting unless given. */
  readonly lockTimeout?: Duration.Input
  /** The server's own setting unless given. PostgreSQL closes a connection whose open transaction idles longer. */
  readonly idleInTransactionTimeout?: Duration.Input
  /** Commands that every connection begins with, such as `SET …`. */
  readonly onConnect?: string
}
