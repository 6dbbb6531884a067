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

/**
 * The URL of each server: libpq lists hosts and ports with commas, in front of the database or as
 * parameters. `URL` parses only one host.
 */
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

/**
 * Reads a URL and the certificates that it names, once, so that mistakes show at the start. Fails
 * if it is not a PostgreSQL URL, if it names an unreadable file, or if it asks for what the driver
 * would ignore.
 */
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
