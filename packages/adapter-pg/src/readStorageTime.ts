import * as Instant from "@tocsin/contract/Instant"
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { PgClient } from "./client/PgClient.ts"

/** The database's own clock, in microseconds since 1970, at this moment and not at the transaction's start. */
export const STORAGE_TIME = "(extract(epoch FROM clock_timestamp()) * 1000000)::int8"

const findStorageTime = `SELECT ${STORAGE_TIME} AS storage_time`

/** Reads the clock that leases are granted and compared by, and that replicas correct theirs by. */
export const readStorageTime = (pg: PgClient["Service"]): Effect.Effect<Instant.Instant, SqlError.SqlError> =>
  Effect.map(pg.query(findStorageTime, []), (rows) =>
    // One row with one bigint, always.
    Instant.fromMicros(rows[0]?.["storage_time"] as bigint),
  )
