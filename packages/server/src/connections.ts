// Loaded by a server on PostgreSQL: others do without the driver.
import * as PgInspection from "@tocsin/adapter-pg/inspection/inspectStorage"
import { PROCESS_CONNECTIONS } from "@tocsin/adapter-pg/PgStorage"
import { Effect, type Redacted } from "effect"

/** The advice for a server that opens more connections than PostgreSQL allows. */
export const connectionAdvice = (allowed: number): string | undefined =>
  PROCESS_CONNECTIONS <= allowed
    ? undefined
    : `this server opens up to ${PROCESS_CONNECTIONS} connections, but PostgreSQL allows ${allowed}: raise max_connections or the limit of the role or database; behind a pooler, ignore this`

/** Warns of too few connections. The storage reports what is wrong with PostgreSQL. */
export const warnOfConnections = (url: Redacted.Redacted) =>
  PgInspection.inspectConnections({ url }).pipe(
    Effect.flatMap((allowed) => {
      const message = connectionAdvice(allowed)
      return message === undefined ? Effect.void : Effect.logWarning(message)
    }),
    Effect.ignore,
  )
