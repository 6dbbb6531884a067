import { Predicate, Schema } from "effect"
import { SqlError } from "effect/sql"

export type ReasonTag = SqlError.SqlErrorReason["_tag"]

/** SQLSTATEs whose meaning differs from that of their class. */
const exactReasons: ReadonlyMap<string, ReasonTag> = new Map([
  ["23505", "UniqueViolation"],
  // idle_in_transaction_session_timeout: PostgreSQL has closed the connection.
  ["25P03", "ConnectionError"],
  ["25P04", "StatementTimeoutError"],
  // The server became a standby: only another connection can reach the primary.
  ["25006", "ConnectionError"],
  ["40002", "ConstraintError"],
  ["40P01", "DeadlockError"],
  ["42501", "AuthorizationError"],
  ["53300", "ConnectionError"],
  ["55P03", "LockTimeoutError"],
  ["57014", "StatementTimeoutError"],
])

/** The first two characters of a SQLSTATE are its class (PostgreSQL manual, appendix A). */
const classReasons: ReadonlyMap<string, ReasonTag> = new Map([
  ["08", "ConnectionError"],
  ["23", "ConstraintError"],
  ["28", "AuthenticationError"],
  ["40", "SerializationError"],
  ["42", "SqlSyntaxError"],
  ["44", "ConstraintError"],
  ["57", "ConnectionError"],
])

/** The kind of `SqlError` for a SQLSTATE; `UnknownError` if callers need not distinguish it. */
export const reasonOfSqlState = (sqlState: string): ReasonTag =>
  exactReasons.get(sqlState) ?? classReasons.get(sqlState.slice(0, 2)) ?? "UnknownError"

/**
 * Whether the connection keeps failing where a new one would not: its prepared statement is gone
 * (26000) or was planned for columns that have changed, or its server takes no more writes (25006).
 */
export const outlivesStatement = (sqlState: string | undefined, routine: string | undefined): boolean =>
  sqlState === "25006" ||
  sqlState === "26000" ||
  (sqlState === "0A000" && routine === "RevalidateCachedQuery")

/** A few fields of the driver's error. Others have addresses, and `detail` and `where` have whole rows. */
export class PgFailure extends Schema.TaggedError<PgFailure>()("PgFailure", {
  message: Schema.String,
  /** The SQLSTATE when PostgreSQL answered (`53100`: disk full), otherwise the code of Node.js (`ECONNREFUSED`). */
  code: Schema.optionalKey(Schema.String),
  hint: Schema.optionalKey(Schema.String),
  schema: Schema.optionalKey(Schema.String),
  table: Schema.optionalKey(Schema.String),
  column: Schema.optionalKey(Schema.String),
  constraint: Schema.optionalKey(Schema.String),
  routine: Schema.optionalKey(Schema.String),
}) {}

/** The failed step, as the `operation` of a `SqlError` names it. A lost `commit` is an unknown outcome. */
export type PgOperation = "connect" | "begin" | "execute" | "commit" | "rollback"

interface Circumstances {
  readonly operation: PgOperation
  readonly isLate: boolean
}

const reasons = {
  ConnectionError: SqlError.ConnectionError,
  AuthenticationError: SqlError.AuthenticationError,
  AuthorizationError: SqlError.AuthorizationError,
  SqlSyntaxError: SqlError.SqlSyntaxError,
  ConstraintError: SqlError.ConstraintError,
  DeadlockError: SqlError.DeadlockError,
  SerializationError: SqlError.SerializationError,
  LockTimeoutError: SqlError.LockTimeoutError,
  StatementTimeoutError: SqlError.StatementTimeoutError,
  UnknownError: SqlError.UnknownError,
}

type Tag = keyof typeof reasons

const sqlErrorOf = (tag: Tag, cause: PgFailure, operation: PgOperation): SqlError.SqlError =>
  new SqlError.SqlError({ reason: new reasons[tag]({ cause, message: cause.message, operation }) })

export const sqlError = (
  tag: Tag,
  { message, operation }: { readonly message: string; readonly operation: PgOperation },
): SqlError.SqlError => sqlErrorOf(tag, new PgFailure({ message }), operation)

const failureFields = ["code", "hint", "schema", "table", "column", "constraint", "routine"] as const

/** The driver adds the fields of a server's answer to the cause of its error. */
type Answer = Error & Readonly<Partial<Record<(typeof failureFields)[number], string>>>

/** Only a server's answer has a severity. */
const isAnswer = (cause: unknown): cause is Answer =>
  cause instanceof Error && Predicate.hasProperty(cause, "severity")

const fromAnswer = (answer: Answer, operation: PgOperation): SqlError.SqlError => {
  const { code = "", constraint = "unknown", message, routine } = answer
  const fields = failureFields.flatMap((field) =>
    answer[field] === undefined ? [] : [[field, answer[field]]],
  )
  const cause = new PgFailure({ message, ...Object.fromEntries(fields) })
  const tag = reasonOfSqlState(code)
  if (tag === "UniqueViolation") {
    return new SqlError.SqlError({
      reason: new SqlError.UniqueViolation({ cause, message, operation, constraint }),
    })
  }
  const isLost = operation === "connect" || outlivesStatement(code, routine)
  return sqlErrorOf(isLost && tag === "UnknownError" ? "ConnectionError" : tag, cause, operation)
}

const unanswered = (operation: PgOperation) =>
  sqlError("ConnectionError", {
    message: "PostgreSQL did not answer in time: check that it is running and reachable",
    operation,
  })

/** A server has no TLS, in the words of the driver. */
export const NO_TLS = "The server does not support TLS"

/** A server lets the user in by another way alone, or not at all. */
export const NOT_LET_IN = "28000"

/** A server refused the password. */
export const WRONG_PASSWORD = "28P01"

/** The SQLSTATE of a server's answer, or {@link NO_TLS}. */
export const refusalOf = ({ reason: { cause } }: SqlError.SqlError): string | undefined => {
  if (isAnswer(cause)) return cause.code
  return cause instanceof Error && cause.message === NO_TLS ? NO_TLS : undefined
}

/** A server asks for a password, and the URL has none. */
export const noPassword = sqlError("AuthenticationError", {
  message: "PostgreSQL asks for a password, which the database URL does not have: add it there",
  operation: "connect",
})

const UNKNOWN_WAY = /^Authentication method|^Unsupported SASL/

/** Why the driver itself gave up the authentication. */
const authenticationMessage = (words: string): string =>
  UNKNOWN_WAY.test(words)
    ? "PostgreSQL asks for an authentication that Tocsin cannot do, such as GSSAPI: let its user in by scram-sha-256 in pg_hba.conf"
    : "The database URL has no password, or the server could not prove that it knows it: check both"

/** Translates a driver error that only says, in its own words, that there is no connection. */
const noConnection = (words: string, operation: PgOperation): SqlError.SqlError => {
  switch (words) {
    case "Connection timed out":
      return unanswered(operation)
    case NO_TLS:
      return sqlError("ConnectionError", {
        message:
          "The database URL requires TLS, which the server does not offer: enable it there, or remove sslmode from the URL",
        operation,
      })
    default:
      return sqlError("ConnectionError", {
        message: "The connection to PostgreSQL was lost: check that it is running, and read its log",
        operation,
      })
  }
}

/** The code of a right that a runtime keeps from a program. */
export const ACCESS_DENIED = "ERR_ACCESS_DENIED"

/** The code of an error of a socket or a file. Deno has none for a right that it keeps from a program. */
export const codeOf = (cause: unknown): string | undefined => {
  if (cause instanceof Error && cause.name === "NotCapable") return ACCESS_DENIED
  return Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) ? cause.code : undefined
}

/** A socket's message has the address, which may contain a part of the password. Its code says enough. */
const fromDriver = ({ cause, _tag }: SqlError.SqlErrorReason, operation: PgOperation): SqlError.SqlError => {
  if (_tag === "AuthenticationError") {
    return sqlError("AuthenticationError", {
      message: authenticationMessage(cause instanceof Error ? cause.message : ""),
      operation,
    })
  }
  if (_tag !== "ConnectionError") {
    // The driver's own words may quote the value.
    return sqlError("UnknownError", {
      message: "A parameter could not be written, or a column could not be read",
      operation,
    })
  }
  const code = codeOf(cause)
  if (code === undefined) return noConnection(cause instanceof Error ? cause.message : "", operation)
  const message =
    `The connection to PostgreSQL failed (${code}): check that the server is running, check the ` +
    "host and port in the database URL and, with TLS, check that the certificate is trusted"
  return sqlErrorOf("ConnectionError", new PgFailure({ message, code }), operation)
}

/** This client's error for one of the driver's, without URL, password and values of a row. */
export const toSqlError = (
  { reason }: SqlError.SqlError,
  { isLate, operation }: Circumstances,
): SqlError.SqlError => {
  if (isLate) return unanswered(operation)
  return isAnswer(reason.cause) ? fromAnswer(reason.cause, operation) : fromDriver(reason, operation)
}
