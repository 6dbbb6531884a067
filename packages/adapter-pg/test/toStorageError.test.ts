import { assert, describe, it } from "@effect/vitest"
import type { StorageFailure } from "@tocsin/core/kernel/ports/Storage"
import { SqlError } from "effect/sql"
import { PgFailure, sqlError, toSqlError } from "../src/client/toSqlError.ts"
import { toStorageError } from "../src/toStorageError.ts"

/** PostgreSQL's wording of a failure, which must not reach the service's users. */
const answer = (code: string, kind: keyof typeof SqlError = "UnknownError") => {
  const cause = new PgFailure({ message: "words of the server about user alice", code })
  const properties = { cause, message: cause.message, operation: "execute" }
  switch (kind) {
    case "ConnectionError":
      return new SqlError.SqlError({ reason: new SqlError.ConnectionError(properties) })
    case "StatementTimeoutError":
      return new SqlError.SqlError({ reason: new SqlError.StatementTimeoutError(properties) })
    case "LockTimeoutError":
      return new SqlError.SqlError({ reason: new SqlError.LockTimeoutError(properties) })
    case "DeadlockError":
      return new SqlError.SqlError({ reason: new SqlError.DeadlockError(properties) })
    default:
      return new SqlError.SqlError({ reason: new SqlError.UnknownError(properties) })
  }
}

const violation = (constraint: string) => {
  const cause = new PgFailure({ message: "duplicate key", code: "23505", constraint })
  return new SqlError.SqlError({ reason: new SqlError.UniqueViolation({ cause, constraint }) })
}

const cases: ReadonlyArray<readonly [name: string, error: SqlError.SqlError, reason: StorageFailure]> = [
  ["disk full", answer("53100"), "full"],
  ["out of memory", answer("53200"), "unavailable"],
  ["too many connections", answer("53300", "ConnectionError"), "unavailable"],
  ["a standby, or read-only", answer("25006", "ConnectionError"), "read_only"],
  ["shut down by an administrator", answer("57P01", "ConnectionError"), "unavailable"],
  ["crashed", answer("57P02", "ConnectionError"), "unavailable"],
  ["starting", answer("57P03", "ConnectionError"), "unavailable"],
  ["connection refused", answer("ECONNREFUSED", "ConnectionError"), "unavailable"],
  ["statement time-out", answer("57014", "StatementTimeoutError"), "timed_out"],
  ["lock time-out", answer("55P03", "LockTimeoutError"), "timed_out"],
  ["deadlock, again and again", answer("40P01", "DeadlockError"), "timed_out"],
  ["race lost, again and again", violation("incident_open"), "timed_out"],
  ["race lost for the report of a month", violation("monthly_report_pkey"), "timed_out"],
  ["race lost for a browser", violation("push_subscription_pkey"), "timed_out"],
  ["a row that is there twice", violation("outbox_pkey"), "other"],
  ["damaged page", answer("XX001"), "damaged"],
  ["damaged index", answer("XX002"), "damaged"],
  ["disk error", answer("58030"), "damaged"],
  ["missing table", answer("42P01"), "damaged"],
  ["anything else", answer("XX000"), "other"],
]

describe("toStorageError", () => {
  it.each(cases)("%s", (_, error, reason) => {
    const { cause, message, reason: given } = toStorageError(error)
    assert.strictEqual(given, reason)
    assert.strictEqual(cause, error)
    // One sentence that says what to do, in words of our own.
    assert.match(message, /^[^.\n]{20,}$/)
    assert.notInclude(message, "alice")
  })

  it.each(["26000", "42P05"])("names a pooler that mixes up prepared statements: %s", (code) => {
    assert.include(toStorageError(answer(code)).message, "use PgBouncer 1.21 or later")
  })

  it("names a pooler that refuses a connection, for whatever reason: 08P01", () => {
    const { message, reason } = toStorageError(answer("08P01", "ConnectionError"))
    assert.strictEqual(reason, "unavailable")
    assert.include(message, "pooler")
    assert.include(message, "max_client_conn")
  })

  it.each(["EMFILE", "ENFILE"])("names the limit of open files, not PostgreSQL: %s", (code) => {
    const { message, reason } = toStorageError(answer(code, "ConnectionError"))
    assert.strictEqual(reason, "unavailable")
    assert.include(message, "open files")
    assert.notInclude(message, "PostgreSQL is unreachable")
  })

  it.each([
    "CERT_REVOKED",
    "CERT_SIGNATURE_FAILURE",
    "INVALID_PURPOSE",
    "ERR_SSL_UNSUPPORTED_PROTOCOL",
    "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION",
    "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE",
    "UNSPECIFIED",
  ])("says that TLS failed, not that nothing is there: %s", (code) => {
    const { message, reason } = toStorageError(answer(code, "ConnectionError"))
    assert.strictEqual(reason, "unavailable")
    assert.include(message, `the TLS connection to PostgreSQL failed (${code})`)
  })

  it("keeps the client's own message, which has no secret", () => {
    const said = "No database connection became free in time: find long transactions in pg_stat_activity"
    const error = toStorageError(sqlError("ConnectionError", { message: said, operation: "connect" }))
    assert.strictEqual(error.message, said)
    assert.strictEqual(error.reason, "unavailable")
  })
})

const OF_OPTIONS = /^PostgreSQL refuses options in the database URL: write options=-cNAME%3DVALUE/

/** Answers as PostgreSQL 15 gives them, and what they say here. */
const reasons: ReadonlyArray<
  readonly [code: string, message: string, routine: string | undefined, words: RegExp]
> = [
  [
    "28000",
    'no pg_hba.conf entry for host "10.0.0.1", user "alice", database "t", no encryption',
    "ClientAuthentication",
    /over TLS alone, or not at all: add sslmode=verify-full/,
  ],
  [
    "28000",
    'no pg_hba.conf entry for host "10.0.0.1", user "alice", database "t", SSL encryption',
    "ClientAuthentication",
    /^pg_hba.conf of PostgreSQL does not let this user and database in from here/,
  ],
  [
    "28000",
    "connection requires a valid client certificate",
    "ClientAuthentication",
    /asks for a client certificate: name its files in sslcert and sslkey/,
  ],
  [
    "28000",
    'role "alice" is not permitted to log in',
    "InitializeSessionUserId",
    /does not exist in PostgreSQL, or may not log in: create it, or let it \(ALTER ROLE … LOGIN\)/,
  ],
  [
    "28000",
    'certificate authentication failed for user "alice"',
    "auth_failed",
    /takes the client certificate in sslcert for another user/,
  ],
  [
    "28000",
    'Peer authentication failed for user "alice"',
    "auth_failed",
    /asks who runs Tocsin on its machine \(peer or ident in pg_hba.conf\): run it as the database's user/,
  ],
  ["28000", 'LDAP authentication failed for user "alice"', "auth_failed", /rejected the user or password/],
  [
    "55000",
    'database "alice" is not currently accepting connections',
    "CheckMyDatabase",
    /^PostgreSQL lets nobody into the database in the URL: allow it \(ALTER DATABASE … ALLOW_CONNECTIONS true\)/,
  ],
  ["42704", 'unrecognized configuration parameter "alice"', "find_option", OF_OPTIONS],
  ["22023", 'invalid value for parameter "work_mem": "alice"', "parse_and_validate_value", OF_OPTIONS],
  ["55P02", 'parameter "port" cannot be changed', "set_config_option_ext", OF_OPTIONS],
  ["42501", 'permission denied to set parameter "alice"', "set_config_option_ext", OF_OPTIONS],
  ["42601", "invalid command-line argument: alice", "process_postgres_switches", OF_OPTIONS],
  [
    "ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED",
    "",
    undefined,
    /the client certificate in sslcert has expired/,
  ],
  [
    "ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_REVOKED",
    "",
    undefined,
    /the client certificate in sslcert was revoked/,
  ],
  ["ENOTFOUND", "", undefined, /^no address is known for the host in the database URL: correct its name/],
  ["EAI_AGAIN", "", undefined, /^no address is known for the host in the database URL/],
  ["EACCES", "", undefined, /^Tocsin's user may not open the socket of PostgreSQL/],
  [
    "28P01",
    'password authentication failed for user "alice"',
    "auth_failed",
    /rejected the user or password/,
  ],
  ["53300", "sorry, too many clients already", "ProcArrayAdd", /raise max_connections/],
  [
    "53300",
    'too many connections for role "alice"',
    "InitializeSessionUserId",
    /ALTER ROLE … CONNECTION LIMIT/,
  ],
  ["53300", 'too many connections for database "t"', "CheckMyDatabase", /ALTER DATABASE … CONNECTION LIMIT/],
  ["CERT_HAS_EXPIRED", "", undefined, /has expired: replace it/],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "", undefined, /names another host than the database URL/],
  ["SELF_SIGNED_CERT_IN_CHAIN", "", undefined, /name the file of its authority in sslrootcert/],
]

it.each(reasons)("%s is explained: %s", (code, message, routine, words) => {
  const cause = new PgFailure({ message, code, ...(routine !== undefined && { routine }) })
  const failed = { cause, message, operation: "connect" }
  const reason = code.startsWith("28")
    ? new SqlError.AuthenticationError(failed)
    : new SqlError.ConnectionError(failed)
  const { message: said, reason: kind } = toStorageError(new SqlError.SqlError({ reason }))
  assert.match(said, words)
  assert.notInclude(said, "alice")
  assert.strictEqual(kind, "unavailable")
})

it("a right that Deno keeps from a program is named", () => {
  const cause = Object.assign(new Error("Requires net access"), { name: "NotCapable" })
  const reason = new SqlError.ConnectionError({
    cause,
    message: "PgConnection: failed",
    operation: "connect",
  })
  const circumstances = { operation: "connect", isLate: false } as const
  const { message } = toStorageError(toSqlError(new SqlError.SqlError({ reason }), circumstances))
  assert.match(message, /^the runtime keeps connections from this program: grant them/)
})
