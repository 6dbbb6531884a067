import { Effect, Redacted, Duration } from "effect"
import type { SqlError } from "effect/sql"
import { readFileSync } from "node:fs"
import type { ConnectionOptions } from "node:tls"
import { ASK_ROLE, RUNS_NO_TRIGGER } from "./Primary.ts"
import { sqlError } from "./toSqlError.ts"

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

/** The parameters of a URL that name files, with the TLS option that each file sets. */
const CERTIFICATES = { sslrootcert: "ca", sslcert: "cert", sslkey: "key" } as const

const SSL_MODES: ReadonlySet<string> = new Set([
  "disable",
  "allow",
  "prefer",
  "require",
  "verify-ca",
  "verify-full",
  "no-verify",
])

interface DatabaseUrl {
  /** One for each server, without the password, and without `sslmode` if `ssl` is set. */
  readonly urls: ReadonlyArray<Redacted.Redacted>
  readonly password: Redacted.Redacted
  /** `undefined` if the driver can read all of it from the URL's `sslmode`. */
  readonly ssl: ConnectionOptions | undefined
}

const tlsOf = ({ searchParams }: URL): ConnectionOptions | undefined => {
  const mode = searchParams.get("sslmode")
  if (mode !== null && !SSL_MODES.has(mode)) throw new TypeError("no mode of TLS")
  const files = Object.entries(CERTIFICATES).flatMap(([parameter, content]) => {
    const file = searchParams.get(parameter)
    return file === null ? [] : [[content, readFileSync(file, "utf8")] as const]
  })
  if (mode === "disable" || (files.length === 0 && mode !== "no-verify")) return undefined
  return { ...Object.fromEntries(files), rejectUnauthorized: mode !== "no-verify" }
}

/** The roles of a server that takes writes. With several servers, Tocsin needs no other word for it. */
const PRIMARY_ROLES: ReadonlySet<string> = new Set(["any", "read-write", "primary"])

const standbyAsked = sqlError("UnknownError", {
  message:
    "The database URL asks for a standby (target_session_attrs), which takes no writes: write read-write, or remove it",
  operation: "connect",
})

/** libpq lists hosts and ports with commas, in front of the database or as parameters. */
const urlsOf = (text: string): ReadonlyArray<URL> => {
  const [, scheme = "", authority = "", rest = ""] = /^([a-z]+:\/\/)([^/?#]*)(.*)$/s.exec(text) ?? []
  const user = authority.slice(0, authority.lastIndexOf("@") + 1)
  const named = authority.slice(user.length).split(",")
  if (named.length > 1) return named.map((host) => new URL(`${scheme}${user}${host}${rest}`))
  const url = new URL(text)
  const hosts = url.searchParams.get("host")?.split(",") ?? []
  const ports = url.searchParams.get("port")?.split(",") ?? []
  if (hosts.length < 2) return [url]
  if (ports.length > 1 && ports.length !== hosts.length) throw new TypeError("not a port for each host")
  return hosts.map((host, at) => {
    const one = new URL(url)
    one.searchParams.set("host", host)
    const port = ports[at] ?? ports[0]
    if (port !== undefined) one.searchParams.set("port", port)
    return one
  })
}

const read = (text: string): DatabaseUrl => {
  const urls = urlsOf(text)
  const [first] = urls
  if (first === undefined) throw new TypeError("no server")
  const ssl = tlsOf(first)
  const password = first.searchParams.get("password") ?? decodeURIComponent(first.password)
  return {
    urls: urls.map((url) => withoutSecrets(url, ssl !== undefined)),
    password: Redacted.make(password),
    ssl,
  }
}

const withoutSecrets = (url: URL, hasTls: boolean): Redacted.Redacted => {
  if (!/^postgres(ql)?:$/.test(url.protocol)) throw new TypeError("not a PostgreSQL URL")
  for (const encoded of [url.username, url.hostname, url.pathname]) decodeURIComponent(encoded)
  url.searchParams.delete("password")
  url.password = ""
  if (hasTls) url.searchParams.delete("sslmode")
  return Redacted.make(url.href)
}

/** Reads a URL and its certificates once. Fails if it asks for what the driver would ignore. */
export const readDatabaseUrl = (url: Redacted.Redacted): Effect.Effect<DatabaseUrl, SqlError.SqlError> => {
  const text = Redacted.value(url)
  const [, role = "any"] = /[?&]target_session_attrs=([^&#]*)/.exec(text) ?? []
  if (!PRIMARY_ROLES.has(role)) return standbyAsked
  return Effect.try({
    try: () => read(text),
    // The thrown error may quote the URL.
    catch: () =>
      sqlError("UnknownError", {
        message:
          "The database URL is not valid: write postgres://user:password@host:port/database (or several host:port with commas), percent-encode " +
          "special characters in the user and password, and check that its certificate files are readable",
        operation: "connect",
      }),
  })
}

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
  /** The server's own setting by default. */
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
