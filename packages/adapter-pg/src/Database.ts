import type { SqlClient } from "effect/sql"
import type { PgClient } from "./client/PgClient.ts"

/** One pool on a database, by both of its interfaces. */
export interface Database {
  readonly sql: SqlClient.SqlClient
  readonly pg: PgClient["Service"]
}
