import { randomBytes } from "node:crypto"
import process from "node:process"
import { PgClient } from "@tocsin/adapter-pg/client/PgClient"
import * as PgStorage from "@tocsin/adapter-pg/PgStorage"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import type { TestProject } from "vitest/node"
import { startPostgres } from "./startPostgres.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** An account that may create databases. */
    readonly postgresUrl: string
    /** A database that has Tocsin's schema, to be copied: migrations take four times as long as a copy. */
    readonly migratedDatabase: string
  }
}

const run = (url: string, statement: string): Promise<unknown> =>
  Effect.runPromise(
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(
      Effect.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })),
    ),
  )

const migrate = async (url: string): Promise<string> => {
  const name = `tocsin_test_migrated_${randomBytes(8).toString("hex")}`
  await run(url, `CREATE DATABASE ${name} STRATEGY FILE_COPY`)
  const migrated = Object.assign(new URL(url), { pathname: name }).href
  await Effect.runPromise(Effect.scoped(Layer.build(PgStorage.layer({ url: Redacted.make(migrated) }))))
  return name
}

/**
 * One PostgreSQL for the whole run: that of TEST_DATABASE_URL, or a temporary one. Each test gets a
 * new database of it through `ScratchPostgres`.
 */
export default async function setup(project: TestProject): Promise<() => Promise<unknown>> {
  const given = process.env["TEST_DATABASE_URL"]
  const own = given === undefined || given === "" ? await startPostgres() : undefined
  const url = own?.url ?? given ?? ""
  const migrated = await migrate(url)
  project.provide("postgresUrl", url)
  project.provide("migratedDatabase", migrated)
  return own?.stop ?? (() => run(url, `DROP DATABASE ${migrated}`))
}
