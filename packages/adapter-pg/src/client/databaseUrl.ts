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

/** Whether a text is a URL that names several hosts, which is not always one that `URL` can parse. */
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
 * Reads a URL, and the certificates it names, once, so that what is wrong with them shows at the start. Fails when it is
 * no URL of PostgreSQL's, names a file that cannot be read, or asks for what would be ignored.
 */
export const readDatabaseUrl = (url: Redacted.Redacted): Effect.Effect<DatabaseUrl, SqlError.SqlError> => {
  const text = Redacted.value(url)
  // What libpq does with these this driver would leave undone, without a word.
  if (hasSeveralHosts(text)) return severalHosts
  if (/[?&]target_session_attrs=/.test(text)) return sessionAttributes
  return Effect.try({
    try: () => read(url),
    // What was thrown may quote the URL.
    catch: () =>
      sqlError("UnknownError", {
        message:
          "The database URL is not valid: write postgres://user:password@host:port/database, percent-encode " +
          "special characters in the user and password, and check that its certificate files are readable",
        operation: "connect",
      }),
  })
}
