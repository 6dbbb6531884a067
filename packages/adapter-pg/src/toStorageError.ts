import { StorageError, type StorageFailure } from "@tocsin/core/kernel/ports/Storage"
import { keyedNames, keyedShape } from "@tocsin/core/lists/StoredTables"
import type { AnyShape } from "@tocsin/core/kernel/model/TableShape"
import type { SqlError } from "effect/sql"
import { PgFailure, type ReasonTag } from "./client/toSqlError.ts"

/** Why a storage failed, and what to do about it, in one sentence. The SqlError itself is for the log. */
type Explanation = readonly [reason: StorageFailure, message: string]

const startingMessage =
  "PostgreSQL is starting, shutting down or refusing connections: see its log, and try again once it is up"

const damagedMessage =
  "PostgreSQL reports damaged data: stop the service, check PostgreSQL's log and restore a backup"

// A statement was prepared on another connection than the one that runs it, or twice on one.
const poolerMessage =
  "a pooler between Tocsin and PostgreSQL mixes up prepared statements: use PgBouncer 1.21 or later with max_prepared_statements at 200 or more, or session mode"

// PgBouncer reports all of these as protocol violations; only its texts differ.
const poolerRefusedMessage =
  "a pooler between Tocsin and PostgreSQL refused or closed a connection: its log names the reason, such as max_client_conn, or an unknown user or database"

const openFilesMessage =
  "the limit of open files is reached, so Tocsin cannot connect to PostgreSQL: raise it (ulimit -n, LimitNOFILE= of systemd), and restart Tocsin"

const untrustedMessage =
  "the certificate of PostgreSQL's server is not trusted: name the file of its authority in sslrootcert of the database URL"

const otherNameMessage =
  "the certificate of PostgreSQL's server names another host than the database URL: use a name that stands in it, or sslmode=verify-ca"

const clientCertificateMessage =
  "PostgreSQL asks for a client certificate: name its files in sslcert and sslkey of the database URL"

const noSchemaMessage =
  "no schema is on the search path of the database's user: create one, or correct search_path"

const unknownHostMessage =
  "no address is known for the host in the database URL: correct its name, or look at the DNS of this machine"

const hiddenMessage =
  "row-level security hides rows from the database's user: take it off Tocsin's tables (ALTER TABLE … DISABLE ROW LEVEL SECURITY)"

/** SQLSTATEs (PostgreSQL manual, appendix A), and codes of the system, that say more than the kind of the error. */
const sqlStateMessages: { readonly [Reason in StorageFailure]?: Readonly<Record<string, string>> } = {
  read_only: {
    "25006": "the database is read-only: point the database URL at the primary, or allow writes",
  },
  full: {
    "53100": "the database's disk is full: free some space; a running server then resumes automatically",
  },
  unavailable: {
    "08P01": poolerRefusedMessage,
    "3D000": "the database in the URL does not exist: create it, or correct its name",
    "3F000": noSchemaMessage,
    "53200": "PostgreSQL is out of memory: give it more memory, or lower max_connections",
    "53300":
      "PostgreSQL has no free connections: raise max_connections, or run fewer replicas (each uses up to 19)",
    "55000": startingMessage,
    "57P01": startingMessage,
    "57P02": startingMessage,
    "57P03": startingMessage,
    EACCES:
      "Tocsin's user may not open the socket of PostgreSQL: let it into its folder, or name a host and a port",
    EAI_AGAIN: unknownHostMessage,
    EMFILE: openFilesMessage,
    ENFILE: openFilesMessage,
    ENOTFOUND: unknownHostMessage,
    CERT_HAS_EXPIRED:
      "the certificate of PostgreSQL's server, or of an authority above it, has expired: replace it",
    CERT_NOT_YET_VALID:
      "the certificate of PostgreSQL's server is not valid yet: set the clocks of both machines right",
    DEPTH_ZERO_SELF_SIGNED_CERT: untrustedMessage,
    ERR_ACCESS_DENIED:
      "the runtime keeps connections from this program: grant them (--allow-net of Node.js or Deno; for a socket in a folder, --allow-read and --allow-write of Deno)",
    "ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED":
      "the client certificate in sslcert has expired: name a new one",
    "ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_REVOKED":
      "the client certificate in sslcert was revoked, as PostgreSQL's ssl_crl_file has it: name a new one",
    ERR_SSL_TLSV1_ALERT_UNKNOWN_CA:
      "PostgreSQL does not trust the client certificate in sslcert: use one that an authority of its ssl_ca_file signed",
    ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: clientCertificateMessage,
    ERR_TLS_CERT_ALTNAME_INVALID: otherNameMessage,
    HOSTNAME_MISMATCH: otherNameMessage,
    SELF_SIGNED_CERT_IN_CHAIN: untrustedMessage,
    UNABLE_TO_GET_ISSUER_CERT: untrustedMessage,
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrustedMessage,
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrustedMessage,
  },
  damaged: {
    "42P01": "a table is missing: point the URL at the right database, or restore a backup",
    "42703": "a column is missing: point the URL at the right database, or restore a backup",
    "58030": damagedMessage,
    XX001: damagedMessage,
    XX002: damagedMessage,
  },
  other: {
    "26000": poolerMessage,
    "42P05": poolerMessage,
    "42P07": "the database contains another program's tables: give Tocsin its own empty database",
  },
}

const busyMessage = "too many concurrent requests change the same rows: repeat the request"

const refusedRowMessage = "PostgreSQL rejected a row: report this as a defect of Tocsin, with the log"

const kindMessages: Readonly<Record<ReasonTag, Explanation>> = {
  ConnectionError: [
    "unavailable",
    "PostgreSQL is unreachable: check that it is running, and check the host and port in the database URL",
  ],
  AuthenticationError: [
    "unavailable",
    "PostgreSQL rejected the user or password in the database URL: correct them, or allow the user in pg_hba.conf",
  ],
  AuthorizationError: [
    "other",
    "the user in the database URL lacks a privilege: make it the owner of the database",
  ],
  DeadlockError: ["timed_out", busyMessage],
  SerializationError: ["timed_out", busyMessage],
  UniqueViolation: ["other", refusedRowMessage],
  LockTimeoutError: [
    "timed_out",
    "a lock did not become free in time: find the long transaction in pg_stat_activity",
  ],
  StatementTimeoutError: [
    "timed_out",
    "PostgreSQL did not answer in time: check its load, disk, locks and synchronous standbys",
  ],
  ConstraintError: ["other", refusedRowMessage],
  SqlSyntaxError: [
    "other",
    "PostgreSQL rejected a statement: report this as a defect of Tocsin, with the log",
  ],
  UnknownError: ["other", "PostgreSQL failed: see the service's log"],
}

/** Answers of one SQLSTATE with several reasons, by PostgreSQL's routine, which no language changes, or its words. */
const refusals: ReadonlyArray<readonly [code: string, of: RegExp, message: string]> = [
  ["42501", /check_enable_rls$/, hiddenMessage],
  ["28000", /client certificate/, clientCertificateMessage],
  [
    "28000",
    /^certificate authentication/,
    "PostgreSQL takes the client certificate in sslcert for another user: use one that names the user of the database URL, or map its name in pg_ident.conf",
  ],
  [
    "28000",
    /^(?:Peer|Ident) authentication/,
    "PostgreSQL asks who runs Tocsin on its machine (peer or ident in pg_hba.conf): run it as the database's user, map its name in pg_ident.conf, or let it in by a password (scram-sha-256)",
  ],
  [
    "28000",
    /InitializeSessionUserId$/,
    "the user in the database URL does not exist in PostgreSQL, or may not log in: create it, or let it (ALTER ROLE … LOGIN)",
  ],
  [
    "55000",
    /CheckMyDatabase$/,
    "PostgreSQL lets nobody into the database in the URL: allow it (ALTER DATABASE … ALLOW_CONNECTIONS true)",
  ],
  [
    "28000",
    /no encryption|SSL off/,
    "PostgreSQL takes this user, database and host over TLS alone, or not at all: add sslmode=verify-full to the database URL, or a line to pg_hba.conf",
  ],
  [
    "28000",
    /ClientAuthentication$/,
    "pg_hba.conf of PostgreSQL does not let this user and database in from here: add a line for them",
  ],
  [
    "53300",
    /InitializeSessionUserId$/,
    "PostgreSQL allows the user no more connections: raise its limit (ALTER ROLE … CONNECTION LIMIT), or run fewer replicas (each uses up to 19)",
  ],
  [
    "53300",
    /CheckMyDatabase$/,
    "PostgreSQL allows the database no more connections: raise its limit (ALTER DATABASE … CONNECTION LIMIT), or run fewer replicas (each uses up to 19)",
  ],
]

/** Answers at the start of a session to `options` that PostgreSQL does not know, cannot read or does not allow. */
const OF_OPTIONS = /^(?:22023|42601|42704|55P02) |^42501 (?:set_config_|call_)/

const optionsMessage =
  "PostgreSQL refuses options in the database URL: write options=-cNAME%3DVALUE, with a setting that its user may change"

const refusalOf = (
  { code, message, routine = "" }: PgFailure,
  operation: unknown,
): Explanation | undefined => {
  if (operation === "connect" && OF_OPTIONS.test(`${code} ${routine}`)) return ["unavailable", optionsMessage]
  const [, , found] = refusals.find(([of, one]) => of === code && one.test(`${message} ${routine}`)) ?? []
  return found === undefined ? undefined : ["unavailable", found]
}

/** Codes of TLS without words of their own. */
const OF_TLS = /^(?:ERR_SSL_|ERR_TLS_|CERT_|CRL_|INVALID_|PATH_LENGTH_EXCEEDED$|UNSPECIFIED$|EPROTO$)/u

const tlsOf = (code: string): Explanation | undefined =>
  OF_TLS.test(code)
    ? [
        "unavailable",
        `the TLS connection to PostgreSQL failed (${code}): compare the certificates and the versions of TLS of both sides, and read PostgreSQL's log`,
      ]
    : undefined

const bySqlState: ReadonlyMap<string, Explanation> = new Map(
  Object.entries(sqlStateMessages).flatMap(([reason, messages]) =>
    Object.entries(messages).map(([code, message]) => [code, [reason as StorageFailure, message]] as const),
  ),
)

/** The SQLSTATE of PostgreSQL's answer, or the code of the network's error. */
export const sqlStateOf = ({ reason }: SqlError.SqlError): string | undefined =>
  reason.cause instanceof PgFailure ? reason.cause.code : undefined

/** Tables whose rows others name: two transactions may make one, and neither finds a row to lock. */
const raced = keyedNames.filter((name) => {
  const { key, locks }: AnyShape = keyedShape(name)
  return locks === "rows" && key[0] !== "id"
})

/** The ID of a browser's subscription is made of its address, which two operators may give at once. */
const racedConstraints = new Set([
  "agent_pkey",
  "incident_open",
  "push_subscription_pkey",
  ...raced.map((name) => `${name}_pkey`),
])

/** Unique indexes on what a sequence gives. */
const sequencedConstraints = new Set(["check_event_pkey", "number_series_pkey"])

const behind: Explanation = [
  "other",
  "a sequence of PostgreSQL is behind its rows, as after an upgrade by logical replication: run tocsin migrate, or restart Tocsin, which sets it right",
]

/** Whether a transaction lost a race against another one, whose changes it sees when it is decided again. */
export const isLostRace = ({ reason }: SqlError.SqlError): boolean =>
  reason._tag === "UniqueViolation"
    ? racedConstraints.has(reason.constraint)
    : reason._tag === "DeadlockError" || reason._tag === "SerializationError"

const explain = (error: SqlError.SqlError): Explanation => {
  const { _tag, cause, operation } = error.reason
  const code = sqlStateOf(error)
  const known =
    (cause instanceof PgFailure ? refusalOf(cause, operation) : undefined) ??
    (code === undefined ? undefined : (bySqlState.get(code) ?? tlsOf(code)))
  if (known !== undefined) return known
  if (isLostRace(error)) return kindMessages.SerializationError
  const { reason } = error
  if (reason._tag === "UniqueViolation" && sequencedConstraints.has(reason.constraint)) return behind
  // The client's own errors have no code, and say what to do already.
  const isOwn = code === undefined && cause instanceof PgFailure && operation === "connect"
  return isOwn ? [kindMessages[_tag][0], cause.message] : kindMessages[_tag]
}

/** No schema in which tables could be. PostgreSQL reports it only when a table is created. */
export const noSchema = new StorageError({ reason: "unavailable", message: noSchemaMessage })

/** Tables whose policies apply to the user, though it owns them where security is forced. */
export const hiddenRows = new StorageError({ reason: "unavailable", message: hiddenMessage })

/** Neither the error nor its cause holds the database's URL or password. */
export const toStorageError = (error: SqlError.SqlError | StorageError): StorageError => {
  if (error._tag === "StorageError") return error
  const [reason, message] = explain(error)
  return new StorageError({ reason, message, cause: error })
}
