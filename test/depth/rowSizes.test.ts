import { readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { start } from "@tocsin/testing/samples"
import { Effect, Redacted } from "effect"
import { seedPostgres } from "../../bench/seed/seedPostgres.ts"
import { seedSqlite } from "../../bench/seed/seedSqlite.ts"
import { partOfFullSize } from "../../bench/seed/SeedSize.ts"
import { PATIENCE, ScratchPostgres } from "../postgres/ScratchPostgres.ts"
import { AT_LENGTH } from "../properties/atLength.ts"
import { ScratchFolder } from "../storage/ScratchFolder.ts"

/** A table of a few thousand rows has the sizes of a large one: there are as many agents as at length. */
const size = { ...partOfFullSize(AT_LENGTH ? 50 : 200), agents: partOfFullSize(50).agents }
const options = { size, now: start, report: () => undefined }

/** The rows of the page, by their tables. */
const TABLES = {
  agent: "agent",
  "agent key": "agent_key",
  check: "check_state",
  "history row": "check_event",
  incident: "incident",
  "member of an incident": "incident_member",
  "change of an incident": "incident_change",
  notification: "outbox",
} as const

const page = readFileSync("docs/scaling.md", "utf8")

/** The bytes of a row and of its indexes, as the page states them. */
const stated = (row: string, database: "PostgreSQL" | "SQLite") => {
  const cells =
    page
      .split("\n")
      .find((line) => line.startsWith(`| ${row} | `))
      ?.split("|") ?? []
  const [table, indexes] = database === "PostgreSQL" ? cells.slice(2, 4) : cells.slice(4, 6)
  return { table: Number(table), indexes: indexes?.trim() === "–" ? 0 : Number(indexes) }
}

/** A small table has half-empty pages, most of all its indexes. */
const isAbout = (measured: number, expected: number): boolean =>
  Math.abs(measured - expected) <= Math.max(0.2 * expected, 20)

type Measured = Readonly<Record<"table" | "indexes", number>>

const assertStated = (database: "PostgreSQL" | "SQLite", measured: (table: string) => Measured) => {
  const wrong = Object.entries(TABLES).flatMap(([row, table]) => {
    const [expected, found] = [stated(row, database), measured(table)]
    const isTrue = isAbout(found.table, expected.table) && isAbout(found.indexes, expected.indexes)
    return isTrue ? [] : [`${row}: ${Math.round(found.table)} and ${Math.round(found.indexes)}`]
  })
  assert.deepStrictEqual(wrong, [])
}

describe("docs/scaling.md states the bytes of each row", () => {
  it.effect("on SQLite", () =>
    Effect.gen(function* () {
      const file = join((yield* ScratchFolder).path, "sizes.db")
      yield* Effect.promise(() => seedSqlite(file, options))
      const database = new DatabaseSync(file)
      const pages = database.prepare(`SELECT sum(pgsize) AS bytes FROM dbstat
        WHERE name IN (SELECT name FROM sqlite_schema WHERE tbl_name = ? AND type = ?)`)
      const count = (table: string) =>
        Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"])
      assertStated("SQLite", (table) => {
        const bytes = (type: string) => Number(pages.get(table, type)?.["bytes"] ?? 0) / count(table)
        return { table: bytes("table"), indexes: bytes("index") }
      })
      database.close()
    }).pipe(Effect.provide(ScratchFolder.layer)),
  )

  it.effect("on PostgreSQL", () =>
    Effect.gen(function* () {
      const { replica, url } = yield* ScratchPostgres
      yield* Effect.promise(() => seedPostgres(Redacted.value(url), options))
      const { sql } = yield* replica(PATIENCE)
      const sizes = new Map<string, Measured>()
      for (const table of Object.values(TABLES)) {
        const [row] = yield* sql.unsafe<{ readonly heap: number; readonly indexes: number }>(
          `SELECT pg_table_size('${table}')::float8 / n AS heap, pg_indexes_size('${table}')::float8 / n AS indexes
            FROM (SELECT count(*) AS n FROM ${table}) AS counted`,
        )
        sizes.set(table, { table: row?.heap ?? 0, indexes: row?.indexes ?? 0 })
      }
      assertStated("PostgreSQL", (table) => sizes.get(table) ?? { table: 0, indexes: 0 })
    }).pipe(Effect.provide(ScratchPostgres.layer)),
  )

  it("and formulas that are their sums", () => {
    const thousands = (sum: number): string => sum.toLocaleString("en")
    for (const database of ["PostgreSQL", "SQLite"] as const) {
      const of = (row: string) => stated(row, database).table + stated(row, database).indexes
      const ofIncident = of("incident") + of("member of an incident") + 2 * of("change of an incident")
      const formula = `${of("check")} + 93 · *d* · ${of("history row")} + 365 · *d*/2 · ${thousands(ofIncident)} + 30 · *d* · ${of("notification")} bytes`
      assert.include(page, `- ${database}: ${formula}`)
    }
  })
})
