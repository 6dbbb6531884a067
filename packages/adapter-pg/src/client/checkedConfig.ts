import { Duration, Effect, Redacted } from "effect"
import type { SqlError } from "effect/sql"
import pg from "pg"
import type { PgPoolOptions } from "./PgPoolOptions.ts"
import { sqlError } from "./toSqlError.ts"
import { typeParsers } from "./typeParsers.ts"

/** The bounds that hold where `PgPoolOptions` gives none. */
const defaults = {
  maxConnections: 10,
  connectTimeout: Duration.seconds(5),
  replyTimeout: Duration.seconds(10),
  idleTimeout: Duration.seconds(30),
  applicationName: "tocsin",
}

/** The options as the driver takes them. */
export interface PgPoolConfig {
  readonly driver: pg.PoolConfig
  readonly replyMillis: number
}

// PostgreSQL takes whole milliseconds, and 0 for none: a bound below one millisecond must not become none.
const millis = (duration: Duration.Input | undefined): number | undefined =>
  duration === undefined ? undefined : Math.ceil(Duration.toMillis(duration))

/** The driver runs it before it lends a connection for the first time, without a bound of its own. */
const running =
  (text: string, { connectTimeout = defaults.connectTimeout }: PgPoolOptions) =>
  async (client: pg.ClientBase): Promise<void> => {
    // The driver takes a timeout with a statement, but does not declare it.
    const query: pg.QueryConfig & { readonly query_timeout: number | undefined } = {
      text,
      query_timeout: millis(connectTimeout),
    }
    await client.query(query)
  }

const configOf = (options: PgPoolOptions): PgPoolConfig => ({
  replyMillis: Duration.toMillis(options.replyTimeout ?? defaults.replyTimeout),
  driver: {
    connectionString: Redacted.value(options.url),
    max: options.maxConnections ?? defaults.maxConnections,
    connectionTimeoutMillis: millis(options.connectTimeout ?? defaults.connectTimeout),
    idleTimeoutMillis: Duration.toMillis(defaults.idleTimeout),
    application_name: options.applicationName ?? defaults.applicationName,
    keepAlive: true,
    types: typeParsers,
    statement_timeout: millis(options.statementTimeout),
    lock_timeout: millis(options.lockTimeout),
    idle_in_transaction_session_timeout: millis(options.idleInTransactionTimeout),
    ...(options.onConnect !== undefined && { onConnect: running(options.onConnect, options) }),
  },
})

/** The driver's reading of a URL, which it keeps on each client but does not declare (pg 8.23). */
interface ReadUrl {
  readonly connectionParameters: pg.ClientConfig
  readonly password: string
}

/**
 * The driver reads the URL, and the certificates it names, for each client it makes, and one that cannot be read later
 * would end the process from within the pool. So they are read here, once. The password is hidden from spreading.
 */
const readUrl = (config: pg.PoolConfig): pg.PoolConfig => {
  const { connectionParameters, password } = new pg.Client(config) as unknown as ReadUrl
  return { ...config, ...connectionParameters, password, connectionString: undefined }
}

/**
 * The options as the driver takes them; fails when the URL is none of PostgreSQL, or names a certificate that cannot be
 * read.
 */
export const checkedConfig = (options: PgPoolOptions): Effect.Effect<PgPoolConfig, SqlError.SqlError> =>
  Effect.try({
    try: () => {
      if (!/^postgres(ql)?:\/\//.test(Redacted.value(options.url)))
        throw new TypeError("not a PostgreSQL URL")
      const { driver, ...config } = configOf(options)
      return { driver: readUrl(driver), ...config }
    },
    // What was thrown may quote the URL.
    catch: () =>
      sqlError("UnknownError", {
        message:
          "The database's URL cannot be used: write postgres://user:password@host:port/database, percent-encode " +
          "what is special in user and password, and see that the certificate files it names can be read",
        operation: "connect",
      }),
  })
