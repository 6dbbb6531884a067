import { StorageError, type StorageFailure } from "@tocsin/core/ports/Storage"
import type { SqlError } from "effect/sql"
import { PgFailure } from "./client/PgFailure.ts"

interface Explanation {
  readonly reason: StorageFailure
  /** What to do, in one sentence; the SqlError itself is for the log. */
  readonly message: string
}

const unreachable: Explanation = {
  reason: "unavailable",
  message:
    "PostgreSQL is unreachable: check that it is running, and check the host and port in the database URL",
}

const starting: Explanation = {
  reason: "unavailable",
  message:
    "PostgreSQL is starting, shutting down or refusing connections: see its log, and try again once it is up",
}

const damaged: Explanation = {
  reason: "damaged",
  message: "PostgreSQL reports damaged data: stop the service, check PostgreSQL's log and restore a backup",
}

const mixedUp: Explanation = {
  reason: "other",
  message:
    "a pooler between Tocsin and PostgreSQL mixes up prepared statements: use PgBouncer 1.21 or later with max_prepared_statements at 100 or more, or session mode",
}

/** SQLSTATEs that say more than the kind of the error (PostgreSQL manual, appendix A). */
const bySqlState: ReadonlyMap<string, Explanation> = new Map([
  [
    "25006",
    {
      reason: "read_only",
      message: "the database is read-only: point the database URL at the primary, or allow writes",
    },
  ],
  // A statement was prepared on another connection than the one it is run on, or twice on one.
  ["26000", mixedUp],
  ["42P05", mixedUp],
  [
    "3D000",
    {
      reason: "unavailable",
      message: "the database in the URL does not exist: create it, or correct its name",
    },
  ],
  [
    "42P01",
    {
      reason: "damaged",
      message: "a table is missing: point the URL at the right database, or restore a backup",
    },
  ],
  [
    "42703",
    {
      reason: "damaged",
      message: "a column is missing: point the URL at the right database, or restore a backup",
    },
  ],
  [
    "42P07",
    {
      reason: "other",
      message: "the database contains another program's tables: give Tocsin its own empty database",
    },
  ],
  [
    "53100",
    {
      reason: "full",
      message: "the database's disk is full: free some space; the service then resumes automatically",
    },
  ],
  [
    "53200",
    {
      reason: "unavailable",
      message: "PostgreSQL is out of memory: give it more memory, or lower max_connections",
    },
  ],
  [
    "53300",
    {
      reason: "unavailable",
      message:
        "PostgreSQL has no free connections: raise max_connections, or run fewer replicas (each uses up to 19)",
    },
  ],
  ["55000", starting],
  ["57P01", starting],
  ["57P02", starting],
  ["57P03", starting],
  ["58030", damaged],
  ["XX001", damaged],
  ["XX002", damaged],
])

const refusedRow: Explanation = {
  reason: "other",
  message: "PostgreSQL rejected a row: report this as a defect of Tocsin, with the log",
}

const busy: Explanation = {
  reason: "timed_out",
  message: "too many concurrent requests change the same rows: repeat the request",
}

const byTag: Readonly<Record<SqlError.SqlErrorReason["_tag"], Explanation>> = {
  ConnectionError: unreachable,
  AuthenticationError: {
    reason: "unavailable",
    message:
      "PostgreSQL rejected the user or password in the database URL: correct them, or allow the user in pg_hba.conf",
  },
  AuthorizationError: {
    reason: "other",
    message: "the user in the database URL lacks a privilege: make it the owner of the database",
  },
  DeadlockError: busy,
  SerializationError: busy,
  UniqueViolation: refusedRow,
  LockTimeoutError: {
    reason: "timed_out",
    message: "a lock did not become free in time: find the long transaction in pg_stat_activity",
  },
  StatementTimeoutError: {
    reason: "timed_out",
    message: "PostgreSQL did not answer in time: check its load, disk and locks",
  },
  ConstraintError: refusedRow,
  SqlSyntaxError: {
    reason: "other",
    message: "PostgreSQL rejected a statement: report this as a defect of Tocsin, with the log",
  },
  UnknownError: { reason: "other", message: "PostgreSQL failed: see the service's log" },
}

/** The SQLSTATE of what PostgreSQL answered, or the code of the network's error. */
export const sqlStateOf = ({ reason }: SqlError.SqlError): string | undefined =>
  reason.cause instanceof PgFailure ? reason.cause.code : undefined

/** Unique indexes in which two transactions meet if neither found a row to lock. */
const racedConstraints = new Set(["agent_pkey", "agent_key_pkey", "incident_open", "mark_pkey"])

/** Whether a transaction lost a race against another one, whose changes it sees when it is decided again. */
export const isLostRace = ({ reason }: SqlError.SqlError): boolean => {
  switch (reason._tag) {
    case "DeadlockError":
    case "SerializationError":
      return true
    case "UniqueViolation":
      return racedConstraints.has(reason.constraint)
    default:
      return false
  }
}

const explain = (error: SqlError.SqlError): Explanation => {
  const { _tag, cause } = error.reason
  const code = sqlStateOf(error)
  const known = code === undefined ? undefined : bySqlState.get(code)
  if (known !== undefined) return known
  if (isLostRace(error)) return busy
  // What the client itself says has no code, and says what to do already.
  const isOwnWord = code === undefined && cause instanceof PgFailure && error.reason.operation === "connect"
  return isOwnWord ? { reason: byTag[_tag].reason, message: cause.message } : byTag[_tag]
}

/** The {@link StorageError} of a failure, with the SqlError as its cause; neither holds the database's URL or password. */
export const toStorageError = (error: SqlError.SqlError): StorageError =>
  new StorageError({ ...explain(error), cause: error })
