import * as PgStorage from "@tocsin/adapter-pg/PgStorage"
import { Effect, Layer, Redacted } from "effect"
import pg from "pg"
import { postgresDialect } from "./Dialect.ts"
import type { SeedOptions } from "./SeedOptions.ts"
import { SeedNames } from "./SeedNames.ts"
import { assertSize, seedSteps } from "./seedSteps.ts"

const SETTINGS = `
SET synchronous_commit = off;
SET statement_timeout = 0;
SET maintenance_work_mem = '1GB';
SET work_mem = '256MB';
SET jit = off;
`

/** Indexes and constraints, with the statements that drop and recreate them. */
const FIND_INDEXES = `
SELECT format('ALTER TABLE %I DROP CONSTRAINT %I', rel.relname, con.conname) AS drop_statement,
       format('ALTER TABLE %I ADD CONSTRAINT %I %s', rel.relname, con.conname, pg_get_constraintdef(con.oid)) AS again
FROM pg_constraint AS con JOIN pg_class AS rel ON rel.oid = con.conrelid
WHERE con.contype IN ('p', 'u') AND con.connamespace = current_schema()::regnamespace AND rel.relname = ANY($1)
UNION ALL
SELECT format('DROP INDEX %I', indexname), indexdef
FROM pg_indexes AS i
WHERE schemaname = current_schema() AND tablename = ANY($1)
  AND NOT EXISTS (SELECT FROM pg_constraint AS con
                  WHERE con.conname = i.indexname AND con.connamespace = current_schema()::regnamespace)
`

/**
 * Tables that get so many rows that their indexes are made afterwards. Agents are looked up while
 * rows are made.
 */
const LARGE = ["check_state", "check_event", "incident_member", "incident_change", "outbox"]

/** Migrates a PostgreSQL storage without agents, and fills it. */
export const seedPostgres = async (url: string, { size, now, report }: SeedOptions): Promise<void> => {
  assertSize(size)
  await Effect.runPromise(Effect.scoped(Layer.build(PgStorage.layer({ url: Redacted.make(url) }))))
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rowCount } = await client.query("SELECT FROM agent LIMIT 1")
    if (rowCount !== 0) throw new Error("the database holds agents already: name an empty one")
    await client.query(SETTINGS)
    const { rows: indexes } = await client.query<{ drop_statement: string; again: string }>(FIND_INDEXES, [
      LARGE,
    ])
    for (const { drop_statement: drop } of indexes) await client.query(drop)
    for (const step of seedSteps(new SeedNames(size, now, postgresDialect))) {
      report(step.name)
      // Without statistics the planner underestimates a million rows and joins them one by one.
      if (step.reads !== undefined) await client.query(`ANALYZE ${step.reads}`)
      await client.query(step.sql)
    }
    for (const { again } of indexes) {
      report(again)
      await client.query(again)
    }
    report("VACUUM (ANALYZE)")
    await client.query("VACUUM (ANALYZE)")
  } finally {
    await client.end()
  }
}
