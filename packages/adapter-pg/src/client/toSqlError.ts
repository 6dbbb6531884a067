import { Predicate } from "effect"
import { SqlError } from "effect/sql"
import { PgFailure } from "./PgFailure.ts"
import { outlivesStatement, reasonOfSqlState } from "./sqlStates.ts"

/** What was being done, as the `operation` of a `SqlError` names it. A lost `commit` is an unknown outcome. */
export type PgOperation = "connect" | "begin" | "execute" | "commit" | "rollback"

interface Circumstances {
  readonly operation: PgOperation
  /** Whether the answer did not come within its time. */
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

/** A `SqlError` of this client's own making. */
export const sqlError = (
  tag: keyof typeof reasons,
  { message, operation }: { readonly message: string; readonly operation: PgOperation },
): SqlError.SqlError =>
  new SqlError.SqlError({
    reason: new reasons[tag]({ cause: new PgFailure({ message }), message, operation }),
  })

const failureFields = ["code", "hint", "schema", "table", "column", "constraint", "routine"] as const

/** The driver hangs the fields of a server's answer on the cause of its error. */
type Answer = Error & Readonly<Partial<Record<(typeof failureFields)[number], string>>>

/** Nothing but a server's answer has a severity. */
const isAnswer = (cause: unknown): cause is Answer =>
  cause instanceof Error && Predicate.hasProperty(cause, "severity")

const failureOfAnswer = (answer: Answer): PgFailure => {
  const { message } = answer
  const fields: Partial<Record<(typeof failureFields)[number], string>> = {}
  for (const field of failureFields) {
    const value = answer[field]
    if (value !== undefined) fields[field] = value
  }
  return new PgFailure({ message, ...fields })
}

const fromAnswer = (answer: Answer, operation: PgOperation): SqlError.SqlError => {
  const cause = failureOfAnswer(answer)
  const properties = { cause, message: cause.message, operation }
  const tag = reasonOfSqlState(answer.code ?? "")
  if (tag === "UniqueViolation") {
    const constraint = answer.constraint ?? "unknown"
    return new SqlError.SqlError({ reason: new SqlError.UniqueViolation({ ...properties, constraint }) })
  }
  const isLost = operation === "connect" || outlivesStatement(answer.code, answer.routine)
  const reason = isLost && tag === "UnknownError" ? reasons.ConnectionError : reasons[tag]
  return new SqlError.SqlError({ reason: new reason(properties) })
}

const unanswered = (operation: PgOperation) =>
  sqlError("ConnectionError", {
    message: "PostgreSQL did not answer in time: check that it is running and reachable",
    operation,
  })

/** Where the driver says no more than that there is no connection: by its own words. */
const noConnection = (words: string, operation: PgOperation): SqlError.SqlError => {
  switch (words) {
    case "Connection timed out":
      return unanswered(operation)
    case "The server does not support TLS":
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

/**
 * A socket's own message holds the address that was tried, which is a part of the database's URL and may hold a part
 * of a password that was not percent-encoded. Its code says as much.
 */
const fromDriver = ({ cause, _tag }: SqlError.SqlErrorReason, operation: PgOperation): SqlError.SqlError => {
  if (_tag === "AuthenticationError") {
    return sqlError("AuthenticationError", {
      message: "The database URL has no password, or the server could not prove that it knows it: check both",
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
  const code = Predicate.hasProperty(cause, "code") && Predicate.isString(cause.code) ? cause.code : undefined
  if (code === undefined) return noConnection(cause instanceof Error ? cause.message : "", operation)
  const message =
    `The connection to PostgreSQL failed (${code}): check that the server is running, check the ` +
    "host and port in the database URL and, with TLS, check that the certificate is trusted"
  const failure = new PgFailure({ message, code })
  return new SqlError.SqlError({
    reason: new SqlError.ConnectionError({ cause: failure, message, operation }),
  })
}

/**
 * The `SqlError` of this client for one of the driver's. Neither the database's URL, nor its password, nor the values of a
 * row are anywhere in it.
 */
export const toSqlError = (
  { reason }: SqlError.SqlError,
  { isLate, operation }: Circumstances,
): SqlError.SqlError => {
  if (isLate) return unanswered(operation)
  return isAnswer(reason.cause) ? fromAnswer(reason.cause, operation) : fromDriver(reason, operation)
}
