import { DatabaseSync } from "node:sqlite"
import * as SqliteStorage from "@tocsin/adapter-sqlite/SqliteStorage"
import { Effect, Layer } from "effect"
import { sqliteDialect } from "./Dialect.ts"
import type { SeedOptions } from "./SeedOptions.ts"
import { SeedNames } from "./SeedNames.ts"
import { assertSize, seedSteps } from "./seedSteps.ts"

/**
 * Nothing that fails half-way is of use, so nothing is synced; keys that come in no order need the
 * table in memory.
 */
const SETTINGS = `
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA cache_size = -4194304;
PRAGMA temp_store = MEMORY;
PRAGMA foreign_keys = OFF;
`

/** The counts that the adapter keeps. */
const RECOUNT =
  "UPDATE system_total SET incidents_open = (SELECT count(*) FROM incident WHERE state = 'open')"

/** Fills an SQLite storage without agents; creates it if needed. */
export const seedSqlite = async (file: string, { size, now, report }: SeedOptions): Promise<void> => {
  assertSize(size)
  await Effect.runPromise(Effect.scoped(Layer.build(SqliteStorage.layer({ file }))))
  // Else SQLite keeps its journal.
  const database = new DatabaseSync(file, { defensive: false })
  try {
    if (database.prepare("SELECT 1 FROM agent LIMIT 1").get() !== undefined) {
      throw new Error(`${file} holds agents already: name a file that is not there yet`)
    }
    database.exec(SETTINGS)
    const indexes = database
      .prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY name")
      .all()
    for (const { name } of indexes) database.exec(`DROP INDEX ${String(name)}`)
    for (const step of seedSteps(new SeedNames(size, now, sqliteDialect))) {
      report(step.name)
      database.exec(step.sql)
    }
    for (const { name, sql } of indexes) {
      report(`index ${String(name)}`)
      database.exec(String(sql))
    }
    database.exec(RECOUNT)
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
  } finally {
    database.close()
  }
}
