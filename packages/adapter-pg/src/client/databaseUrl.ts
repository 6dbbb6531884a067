import { readFileSync } from "node:fs"
import type { ConnectionOptions } from "node:tls"
import { Effect, Redacted } from "effect"
import type { SqlError } from "effect/sql"
import { sqlError } from "./toSqlError.ts"

/** The parameters of a URL that name files, by what the files hold. */
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

/** A database's URL as the driver takes it. */
export interface DatabaseUrl {
  /** Without the password, and without what `ssl` says. */
  readonly url: Redacted.Redacted
  readonly password: Redacted.Redacted
  /** `undefined` where the URL's `sslmode`, which the driver reads, says it all. */
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

const read = (given: Redacted.Redacted): DatabaseUrl => {
  const url = new URL(Redacted.value(given))
  if (!/^postgres(ql)?:$/.test(url.protocol)) throw new TypeError("not a PostgreSQL URL")
  const ssl = tlsOf(url)
  const password = url.searchParams.get("password") ?? decodeURIComponent(url.password)
  for (const encoded of [url.username, url.hostname, url.pathname]) decodeURIComponent(encoded)
  url.searchParams.delete("password")
  url.password = ""
  if (ssl !== undefined) url.searchParams.delete("sslmode")
  return { url: Redacted.make(url.href), password: Redacted.make(password), ssl }
}

/**
 * Reads a URL, and the certificates it names, once, so that what is wrong with them shows at the start. Fails when it is
 * no URL of PostgreSQL's, or names a file that cannot be read.
 */
export const readDatabaseUrl = (url: Redacted.Redacted): Effect.Effect<DatabaseUrl, SqlError.SqlError> =>
  Effect.try({
    try: () => read(url),
    // What was thrown may quote the URL.
    catch: () =>
      sqlError("UnknownError", {
        message:
          "The database's URL cannot be used: write postgres://user:password@host:port/database, percent-encode " +
          "what is special in user and password, and see that the certificate files it names can be read",
        operation: "connect",
      }),
  })
