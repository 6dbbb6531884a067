import { Duration, type Redacted } from "effect"
import { ASK_FITNESS, ASK_ROLE } from "./Primary.ts"

const escaped = (text: string): string => text.replaceAll("'", "''")

/** The extended protocol takes one command at a time, so PostgreSQL runs the script itself. */
export const scriptOf = (text: string): string =>
  `DO $tocsin_script$ BEGIN EXECUTE $tocsin_text$${text}$tocsin_text$; END $tocsin_script$`

type Settings = Readonly<Record<string, string>>
type Until = "session ends" | "transaction ends"

/** The terms of a SELECT that changes server settings for the rest of the session or the transaction. */
const settingsTerms = (settings: Settings, until: Until): ReadonlyArray<string> =>
  Object.entries(settings).map(
    ([name, value]) => `set_config('${escaped(name)}', '${escaped(value)}', ${until === "transaction ends"})`,
  )

export const settingStatement = (settings: Settings, until: Until): string =>
  `SELECT ${settingsTerms(settings, until).join(", ")}`

/** A host on which several pools have connections. */
export interface PgHost {
  /** When an answer last failed to come. Connections that have not answered since may be dead. */
  silentSince: number
}

/** How to reach one database, with limits. */
export interface PgPoolOptions {
  /** `postgres://user:password@host:port/database`, with parameters such as `?sslmode=verify-full`. */
  readonly url: Redacted.Redacted
  /** The most connections, 10 by default. If all are in use, callers wait for `connectTimeout` at most. */
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
  /** None by default. */
  readonly lockTimeout?: Duration.Input
  /** None by default. PostgreSQL closes a connection whose transaction idles longer. */
  readonly idleInTransactionTimeout?: Duration.Input
  /** Shared with other pools on the same host; private to this pool by default. */
  readonly host?: PgHost
  /** Further server settings for every connection, such as `jit: "off"`. */
  readonly settings?: Readonly<Record<string, string>>
}

/** `replyTimeout` for migrations and copies, whose statements may take hours. Keep-alive detects a lost host. */
export const LONG_WORK = Duration.hours(6)

// PostgreSQL takes whole milliseconds, and 0 for no limit: round up.
const millis = (duration: Duration.Input): string => String(Math.ceil(Duration.toMillis(duration)))

/** Limits that would close connections between two statements, since versions 14 and 17. */
const LIFTED = ["idle_session_timeout", "transaction_timeout"].map(
  (name) =>
    `CASE WHEN current_setting('${name}', true) IS NOT NULL THEN set_config('${name}', '0', false) END`,
)

const settingsOf = (options: PgPoolOptions): Readonly<Record<string, string>> => {
  const { idleInTransactionTimeout, lockTimeout, statementTimeout } = options
  return {
    // Parameters that are arrays contain it.
    array_nulls: "on",
    ...(statementTimeout !== undefined && { statement_timeout: millis(statementTimeout) }),
    // A limit of the role or database would fail statements, or close connections between two.
    lock_timeout: millis(lockTimeout ?? 0),
    idle_in_transaction_session_timeout: millis(idleInTransactionTimeout ?? 0),
    // A policy on rows would hide them, and a statement that finds fewer would look as if it had worked.
    row_security: "off",
    ...options.settings,
  }
}

/** The first statement on each connection: it asks what `PgConnection.setUp` returns, and changes settings. */
export const setUpStatement = (options: PgPoolOptions): string => {
  const settings = settingsTerms(settingsOf(options), "session ends")
  return [ASK_ROLE, ASK_FITNESS, ...LIFTED, ...settings].join(", ")
}
