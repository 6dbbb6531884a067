import { Predicate } from "effect"
import { SqlError } from "effect/sql"
import pg from "pg"
import { PgFailure } from "./PgFailure.ts"
import { outlivesStatement, reasonOfSqlState } from "./sqlStates.ts"

/** What was being done, as the `operation` of a `SqlError` names it. A lost `commit` is an unknown outcome. */
export type PgOperation = "connect" | "begin" | "execute" | "commit" | "rollback"

interface Circumstances {
  readonly operation: PgOperation
  /** Whether the connection is of no use any more. */
  readonly connectionLost: boolean
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

const failureOfAnswer = (error: pg.DatabaseError): PgFailure => {
  const fields: Partial<Record<(typeof failureFields)[number], string>> = {}
  for (const field of failureFields) {
    const value = error[field]
    if (value !== undefined) fields[field] = value
  }
  return new PgFailure({ message: error.message, ...fields })
}

const fromAnswer = (
  error: pg.DatabaseError,
  { connectionLost, operation }: Circumstances,
): SqlError.SqlError => {
  const cause = failureOfAnswer(error)
  const properties = { cause, message: cause.message, operation }
  const tag = reasonOfSqlState(error.code ?? "")
  if (tag === "UniqueViolation") {
    const constraint = error.constraint ?? "unknown"
    return new SqlError.SqlError({ reason: new SqlError.UniqueViolation({ ...properties, constraint }) })
  }
  const lost = operation === "connect" || connectionLost || outlivesStatement(error.code, error.routine)
  const reason = lost && tag === "UnknownError" ? reasons.ConnectionError : reasons[tag]
  return new SqlError.SqlError({ reason: new reason(properties) })
}

const unanswered = "PostgreSQL did not answer in time: see that it runs and can be reached"

/** The driver's words for what an operator should read. */
const connectMessages: ReadonlyMap<string, string> = new Map([
  ["timeout expired", unanswered],
  ["Connection terminated due to connection timeout", unanswered],
  [
    "timeout exceeded when trying to connect",
    "No database connection became free in time: look in pg_stat_activity for transactions that stay open, or run another replica",
  ],
])

/**
 * A socket's own message holds the address that was tried, which is a part of the database's URL and may hold a part
 * of a password that was not percent-encoded. Its code says as much. Messages without a code are the driver's constants.
 */
const fromDriver = (error: unknown, { connectionLost, operation }: Circumstances): SqlError.SqlError => {
  const thrown = Predicate.hasProperty(error, "message") ? String(error.message) : "unknown"
  if (operation !== "connect" && !connectionLost) {
    return sqlError("UnknownError", { message: thrown, operation })
  }
  if (thrown.startsWith("SASL")) {
    return sqlError("AuthenticationError", {
      message: "The database's URL lacks a password, or the server's proof of it failed",
      operation,
    })
  }
  const code = Predicate.hasProperty(error, "code") && Predicate.isString(error.code) ? error.code : undefined
  const message =
    code === undefined
      ? (connectMessages.get(thrown) ?? thrown)
      : `The connection to PostgreSQL failed (${code}): see that the server runs, that the database's URL names its ` +
        "host and port, and, with TLS, that its certificate is trusted"
  const cause = new PgFailure(code === undefined ? { message } : { message, code })
  return new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause, message, operation }) })
}

/**
 * The `SqlError` for whatever the driver threw or called back with. Neither the database's URL, nor its password, nor
 * the values of a row are anywhere in it.
 */
export const toSqlError = (error: unknown, circumstances: Circumstances): SqlError.SqlError =>
  error instanceof pg.DatabaseError ? fromAnswer(error, circumstances) : fromDriver(error, circumstances)
