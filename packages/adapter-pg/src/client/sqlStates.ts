import type { SqlError } from "effect/sql"

type ReasonTag = SqlError.SqlErrorReason["_tag"]

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
