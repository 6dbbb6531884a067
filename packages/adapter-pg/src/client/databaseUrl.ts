import { readFileSync } from "node:fs"
import type { ConnectionOptions } from "node:tls"
import { Effect, Redacted } from "effect"
import type { SqlError } from "effect/sql"
import { sqlError } from "./toSqlError.ts"

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

/** A database's URL in the parts that the driver takes. */
export interface DatabaseUrl {
  /** Without the password, and without `sslmode` if `ssl` is set. */
  readonly url: Redacted.Redacted
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

/** Whether a URL names several hosts. `URL` cannot parse all of these. */
const hasSeveralHosts = (text: string): boolean => {
  const [, authority = ""] = /^postgres(?:ql)?:\/\/([^/?#]*)/.exec(text) ?? []
  const hosts = authority.slice(authority.lastIndexOf("@") + 1)
  return hosts.includes(",") || /[?&]host(addr)?=[^&#]*(,|%2C)/i.test(text)
}

const severalHosts = sqlError("UnknownError", {
  message: "The database URL names several hosts: name one, either the primary or a proxy that routes to it",
  operation: "connect",
})

const sessionAttributes = sqlError("UnknownError", {
  message:
    "The database URL contains target_session_attrs, which Tocsin does not support: remove it, and name the primary",
  operation: "connect",
})

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
 * Reads a URL and the certificates that it names, once, so that mistakes show at the start. Fails
 * if it is not a PostgreSQL URL, if it names an unreadable file, or if it asks for what the driver
 * would ignore.
 */
export const readDatabaseUrl = (url: Redacted.Redacted): Effect.Effect<DatabaseUrl, SqlError.SqlError> => {
  const text = Redacted.value(url)
  // The driver ignores these, unlike libpq.
  if (hasSeveralHosts(text)) return severalHosts
  if (/[?&]target_session_attrs=/.test(text)) return sessionAttributes
  return Effect.try({
    try: () => read(url),
    // The thrown error may quote the URL.
    catch: () =>
      sqlError("UnknownError", {
        message:
          "The database URL is not valid: write postgres://user:password@host:port/database, percent-encode " +
          "special characters in the user and password, and check that its certificate files are readable",
        operation: "connect",
      }),
  })
}
