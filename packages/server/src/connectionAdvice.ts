import process from "node:process"
import { inspectConnections } from "@tocsin/adapter-pg/inspection/connectionLimit"
import { PROCESS_CONNECTIONS } from "@tocsin/adapter-pg/processConnections"
import { Effect, Layer } from "effect"
import type { Settings } from "./settings/Settings.ts"
import { workerNumber, workersOf } from "./workers/worker.ts"

/** How many connections so many workers open at most. */
export const connectionsOf = (workers: number): number => workers * PROCESS_CONNECTIONS

/** What to do if workers open more connections than PostgreSQL allows. */
export const connectionAdvice = (workers: number, allowed: number): string | undefined =>
  connectionsOf(workers) <= allowed
    ? undefined
    : `this server opens up to ${connectionsOf(workers)} connections, but PostgreSQL allows ${allowed}: raise max_connections or the limit of the role or database, or lower SERVICE_WORKERS; behind a pooler, ignore this`

/** Warns of too few connections once for all workers, beside their start. */
export const connectionWarning = (settings: Settings): Layer.Layer<never> => {
  const { DATABASE_URL: database } = settings
  if (database?.kind !== "postgres" || (workerNumber(process.env) ?? 1) > 1) return Layer.empty
  const warn = Effect.flatMap(inspectConnections({ url: database.url }), (allowed) => {
    const message = connectionAdvice(workersOf(settings), allowed)
    return message === undefined ? Effect.void : Effect.logWarning(message)
  })
  // The storage reports what is wrong with PostgreSQL.
  return Layer.effectDiscard(Effect.forkScoped(Effect.ignore(warn)))
}
