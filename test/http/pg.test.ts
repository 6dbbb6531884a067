import { PgClient } from "@tocsin/adapter-pg/client/PgClient"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { EmptiedPostgres } from "../storage/EmptiedPostgres.ts"
import { storageHttpSuite } from "./storageHttpSuite.ts"

/** All rows of all tables, as text. */
const dump = Effect.gen(function* () {
  const { url } = yield* EmptiedPostgres
  const services = yield* Layer.build(PgClient.layer({ url, maxConnections: 1 }))
  const sql = Context.get(services, SqlClient.SqlClient)
  const tables = yield* sql<{ name: string }>`
    SELECT quote_ident(tablename) AS name FROM pg_tables WHERE schemaname = 'public'
  `
  const rows = yield* Effect.forEach(
    tables,
    ({ name }) => sql<{ line: string }>`SELECT t::text AS line FROM ${sql.literal(name)} t`,
  )
  return rows
    .flat()
    .map(({ line }) => line)
    .join("\n")
}).pipe(Effect.scoped)

storageHttpSuite(
  {
    name: "PostgreSQL",
    place: EmptiedPostgres.layerOfFile(),
    client: EmptiedPostgres.client,
  },
  dump,
)
