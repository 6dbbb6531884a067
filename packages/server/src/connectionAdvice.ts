import { inspectConnections } from "@tocsin/adapter-pg/inspection/connectionLimit"
import { PROCESS_CONNECTIONS } from "@tocsin/adapter-pg/processConnections"
import { Effect, Layer } from "effect"
import type { Settings } from "./settings/Settings.ts"

/** The advice for a server that opens more connections than PostgreSQL allows. */
export const connectionAdvice = (allowed: number): string | undefined =>
  PROCESS_CONNECTIONS <= allowed
    ? undefined
    : `this server opens up to ${PROCESS_CONNECTIONS} connections, but PostgreSQL allows ${allowed}: raise max_connections or the limit of the role or database; behind a pooler, ignore this`

/** Warns of too few connections, beside the start. */
export const connectionWarning = ({ DATABASE_URL: database }: Settings): Layer.Layer<never> => {
  if (database?.kind !== "postgres") return Layer.empty
  const warn = Effect.flatMap(inspectConnections({ url: database.url }), (allowed) => {
    const message = connectionAdvice(allowed)
    return message === undefined ? Effect.void : Effect.logWarning(message)
  })
  // The storage reports what is wrong with PostgreSQL.
  return Layer.effectDiscard(Effect.forkScoped(Effect.ignore(warn)))
}
