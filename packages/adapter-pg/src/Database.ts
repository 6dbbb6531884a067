import type { SqlClient } from "effect/sql"
import type { PgClient } from "./client/PgClient.ts"
import type { Announcer } from "./hints/Announcer.ts"

/** One pool on a database, by both of its interfaces. */
export interface Database {
  readonly sql: SqlClient.SqlClient
  readonly pg: PgClient["Service"]
}

/** One pool on a database for commands. */
export interface CommandDatabase extends Database {
  /** The announcer of this process. */
  readonly announcer: Announcer
}
