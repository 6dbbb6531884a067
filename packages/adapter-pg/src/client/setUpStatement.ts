import { Duration } from "effect"
import type { PgPoolOptions } from "./PgPoolOptions.ts"
import { ASK_ROLE, RUNS_NO_TRIGGER } from "./Primary.ts"
import { settingsTerms } from "./script.ts"

// PostgreSQL takes whole milliseconds, and 0 for no limit: round up.
const millis = (duration: Duration.Input): string => String(Math.ceil(Duration.toMillis(duration)))

// PostgreSQL has this limit since version 17.
const LIFT_TRANSACTION_TIMEOUT = `CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL
  THEN set_config('transaction_timeout', '0', false) END`

const settingsOf = (options: PgPoolOptions): Readonly<Record<string, string>> => {
  const { idleInTransactionTimeout, lockTimeout, statementTimeout } = options
  return {
    // Parameters that are arrays contain it.
    array_nulls: "on",
    ...(statementTimeout !== undefined && { statement_timeout: millis(statementTimeout) }),
    ...(lockTimeout !== undefined && { lock_timeout: millis(lockTimeout) }),
    // A limit of the role or database would close connections between two statements.
    idle_in_transaction_session_timeout: millis(idleInTransactionTimeout ?? 0),
    idle_session_timeout: "0",
    ...options.settings,
  }
}

/** The first statement on each connection: it asks what `PgConnection.setUp` returns, and changes settings. */
export const setUpStatement = (options: PgPoolOptions): string => {
  const settings = settingsTerms(settingsOf(options), "session ends")
  return [ASK_ROLE, RUNS_NO_TRIGGER, LIFT_TRANSACTION_TIMEOUT, ...settings].join(", ")
}
