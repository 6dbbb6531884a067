import type { SqlError } from "effect/sql"

type ReasonTag = SqlError.SqlErrorReason["_tag"]

/** SQLSTATEs that mean something else than their class does. */
const exactReasons: ReadonlyMap<string, ReasonTag> = new Map([
  ["23505", "UniqueViolation"],
  // idle_in_transaction_session_timeout: PostgreSQL has closed the connection.
  ["25P03", "ConnectionError"],
  ["25P04", "StatementTimeoutError"],
  // A server that was demoted to a standby: only another connection can reach the one that takes writes.
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

/** The kind of `SqlError` that a SQLSTATE stands for; `UnknownError` when it is none that a caller acts on. */
export const reasonOfSqlState = (sqlState: string): ReasonTag =>
  exactReasons.get(sqlState) ?? classReasons.get(sqlState.slice(0, 2)) ?? "UnknownError"

/**
 * Whether a SQLSTATE says that this connection will go on failing where a new one would not: its prepared statement
 * is gone (26000) or was planned for columns that have changed since, or its server takes no writes any more (25006).
 */
export const outlivesStatement = (sqlState: string | undefined, routine: string | undefined): boolean =>
  sqlState === "25006" ||
  sqlState === "26000" ||
  (sqlState === "0A000" && routine === "RevalidateCachedQuery")
