import { nearestName } from "@tocsin/contract/formats/nearestName"
import { Effect, Redacted } from "effect"
import type { SqlError } from "effect/sql"
import { type DatabaseTls, tlsOf, UrlFault } from "./databaseTls.ts"
import { sqlError } from "./toSqlError.ts"

/** A server of an address. */
interface DatabaseServer extends DatabaseTls {
  /** Without the password and what it says of TLS. */
  readonly url: Redacted.Redacted
  /** The address to connect to, if another than the name's (`hostaddr`). */
  readonly host: string | undefined
}

interface DatabaseUrl {
  readonly servers: ReadonlyArray<DatabaseServer>
  readonly password: Redacted.Redacted
  /** The password as PostgreSQL prepares one for SCRAM, if that is another. It keeps some as they are. */
  readonly prepared: Redacted.Redacted | undefined
}

/** Parameters that are read, each of libpq but `ssl`. */
const READ = ["host", "hostaddr", "port", "user", "password", "dbname", "options", "target_session_attrs"]
const OF_TLS = ["ssl", "sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword"]

/** Parameters that ask for nothing that Tocsin does not do by itself: it names, limits and probes its connections. */
const NEEDLESS = [
  "application_name",
  "fallback_application_name",
  "connect_timeout",
  "keepalives",
  "keepalives_idle",
  "keepalives_interval",
  "keepalives_count",
  "tcp_user_timeout",
]

/** Parameters that may have these values alone: others would promise what the driver does not do. */
const VALUES: Readonly<Record<string, ReadonlyArray<string>>> = {
  channel_binding: ["disable", "prefer"],
  client_encoding: ["UTF8", "utf8", "UTF-8", "utf-8", "auto"],
  gssencmode: ["disable", "prefer"],
  load_balance_hosts: ["disable"],
  sslcertmode: ["allow"],
  sslcompression: ["0"],
  sslnegotiation: ["postgres"],
  sslsni: ["1"],
}

const OF_OTHERS = ["schema", "currentSchema", "search_path"]

const KNOWN = [...READ, ...OF_TLS, ...NEEDLESS, ...Object.keys(VALUES)]

const LONGEST_SHOWN = 40

/** Why a parameter is refused. A name may be a part of a password that was not encoded. */
const faultOf = (name: string, value: string): string | undefined => {
  const values = VALUES[name]
  if (values !== undefined)
    return values.includes(value) ? undefined : `${name} may only be ${values.join(" or ")} here: remove it`
  if (KNOWN.includes(name)) return undefined
  if (OF_OTHERS.includes(name)) return `${name} is not read: write options=-csearch_path%3DNAME`
  const nearest = nearestName(name, KNOWN)
  const shown = /^\w+$/.test(name) ? name.slice(0, LONGEST_SHOWN) : "a parameter"
  return `${shown} is not read: ${nearest === undefined ? "remove it" : `did you mean ${nearest}?`}`
}

/** Parameters that are not read could ask for protection, so they are refused. */
const judge = (parameters: URLSearchParams): void => {
  const seen = new Set<string>()
  for (const [name, value] of parameters) {
    const fault = seen.has(name) ? `${name} stands twice: remove one` : faultOf(name, value)
    if (fault !== undefined) throw new UrlFault(`The database URL cannot be used: ${fault}`)
    seen.add(name)
  }
}

/** The roles of a server that takes writes. With several servers, Tocsin needs no other word for it. */
const PRIMARY_ROLES: ReadonlySet<string> = new Set(["any", "read-write", "primary"])

const standbyAsked = new UrlFault(
  "The database URL asks for a standby (target_session_attrs), which takes no writes: write read-write, or remove it",
)

/** A URL has no user and no port without a host, which libpq allows. */
const parse = (scheme: string, user: string, host: string, rest: string): URL => {
  const isPortAlone = /^:\d+$/.test(host)
  if ((host !== "" && !isPortAlone) || user + host === "") return new URL(`${scheme}${user}${host}${rest}`)
  const url = new URL(`${scheme}${rest}`)
  const { username, password, port } = new URL(`${scheme}${user}localhost${host}`)
  for (const [name, value] of [
    ["user", username],
    ["password", password],
    ["port", port],
  ] as const)
    if (value !== "" && !url.searchParams.has(name)) url.searchParams.set(name, decodeURIComponent(value))
  return url
}

/** libpq lists hosts, their addresses and ports with commas, in front of the database or as parameters. */
const urlsOf = (text: string): ReadonlyArray<URL> => {
  const [, scheme = "", authority = "", rest = ""] = /^([a-z]+:\/\/)([^/?#]*)(.*)$/s.exec(text) ?? []
  const user = authority.slice(0, authority.lastIndexOf("@") + 1)
  const named = authority.slice(user.length).split(",")
  if (named.length > 1 && named.some((host) => /^(?::\d*)?$/.test(host)))
    throw new TypeError("no host behind a comma")
  const urls = named.map((host) => parse(scheme, user, host, rest))
  if (!/^postgres(ql)?:\/\/$/.test(scheme)) throw new TypeError("not a PostgreSQL URL")
  const [url] = urls
  if (url === undefined) throw new TypeError("no server")
  const lists = ["host", "hostaddr", "port"].map(
    (name) => [name, url.searchParams.get(name)?.split(",") ?? []] as const,
  )
  const count = Math.max(named.length, ...lists.map(([, values]) => values.length))
  for (const [, { length }] of lists)
    if (length > 1 && length !== count) throw new TypeError("not one for each host")
  if (named.length > 1 && named.length !== count) throw new TypeError("not a host for each")
  return Array.from({ length: count }, (_, at) => {
    const one = new URL(urls[at] ?? url)
    for (const [name, values] of lists) {
      const value = values[at] ?? values[0]
      if (value !== undefined) one.searchParams.set(name, value)
    }
    return one
  })
}

const serverOf = (url: URL, tls: (name: string) => DatabaseTls): DatabaseServer => {
  for (const encoded of [url.username, url.hostname, url.pathname]) decodeURIComponent(encoded)
  const { searchParams: parameters } = url
  const inside = decodeURIComponent(url.hostname.replaceAll(/^\[|\]$/g, ""))
  const address = parameters.get("hostaddr") ?? undefined
  const name = parameters.get("host") ?? (inside || (address ?? "localhost"))
  for (const parameter of ["password", "hostaddr", ...OF_TLS, ...NEEDLESS, ...Object.keys(VALUES)])
    parameters.delete(parameter)
  url.password = ""
  return { url: Redacted.make(url.href), host: address, ...tls(name) }
}

/** Spaces of RFC 3454, table C.1.2, and what its table B.1 maps to nothing. */
const SPACES = /[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]/g
const NOTHING = /\u00ad|\u034f|\u1806|[\u180b-\u180d]|\u200c|\u200d|\u2060|[\ufe00-\ufe0f]|\ufeff/g

/** SASLprep of RFC 4013, but for the texts that it refuses: PostgreSQL uses those as they are. */
const prepare = (password: string): Redacted.Redacted | undefined => {
  const prepared = password.replaceAll(SPACES, " ").replaceAll(NOTHING, "").normalize("NFKC")
  return prepared === password ? undefined : Redacted.make(prepared)
}

const read = (text: string): DatabaseUrl => {
  const urls = urlsOf(text)
  const [first] = urls
  if (first === undefined) throw new TypeError("no server")
  const { searchParams: parameters } = first
  judge(parameters)
  if (!PRIMARY_ROLES.has(parameters.get("target_session_attrs") ?? "any")) throw standbyAsked
  const tls = tlsOf(parameters)
  const password = parameters.get("password") ?? decodeURIComponent(first.password)
  return {
    servers: urls.map((url) => serverOf(url, tls)),
    password: Redacted.make(password),
    prepared: prepare(password),
  }
}

const notValid =
  "The database URL is not valid: write postgres://user:password@host:port/database (or several host:port with commas), " +
  "and percent-encode special characters in the user and password"

/** Reads a URL and its certificates once. Fails if it asks for contradictory or unknown settings. */
export const readDatabaseUrl = (url: Redacted.Redacted): Effect.Effect<DatabaseUrl, SqlError.SqlError> =>
  Effect.try({
    try: () => read(Redacted.value(url)),
    // Other thrown errors may quote the URL.
    catch: (error) =>
      sqlError("UnknownError", {
        message: error instanceof UrlFault ? error.message : notValid,
        operation: "connect",
      }),
  })
