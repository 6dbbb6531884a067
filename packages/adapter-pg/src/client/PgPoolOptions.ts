import { Duration, type Redacted } from "effect"

/** What is known of a host on which several pools have connections. */
export interface PgHost {
  /**
   * Until when connections may have answered and be dead all the same, by `performance.now`: an answer did not come. What has
   * not been heard of since is given up.
   */
  silentSince: number
}

/** How to reach one database, and the bounds of doing so. */
export interface PgPoolOptions {
  /** `postgres://user:password@host:port/database`, with parameters such as `?sslmode=verify-full`. */
  readonly url: Redacted.Redacted
  /** Connections held at most, 10 unless given. Whoever finds them all in use waits, for `connectTimeout` at most. */
  readonly maxConnections?: number
  /** The longest wait for a connection, new or free: 5 seconds unless given. */
  readonly connectTimeout?: Duration.Input
  /**
   * The longest wait for the answer to any one statement, and at the end for connections still in use: 11 seconds
   * unless given. What takes longer loses its connection: the server is gone, or does not keep its own time limit,
   * which should be shorter.
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
  /** Shared with other pools on the same host; one of this pool's own unless given. */
  readonly host?: PgHost
  /** Further settings of the server that hold on every connection, such as `jit: "off"`. */
  readonly settings?: Readonly<Record<string, string>>
}

/** `replyTimeout` of what may work for hours on one statement: migrations and copies. Keep-alive ends those of a lost host. */
export const LONG_WORK = Duration.hours(6)
