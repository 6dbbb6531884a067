import { readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, layer } from "@effect/vitest"
import { pageStatements } from "@tocsin/adapter-sqlite/lists/pageReads"
import { NotifierKind } from "@tocsin/contract/formats/Status"
import type { ListName, PageRequest } from "@tocsin/core/lists/ListDefinitions"
import { start } from "@tocsin/testing/samples"
import { Context, Effect, Layer } from "effect"
import { deepPosition, type RunSql } from "../../bench/depth/deepPosition.ts"
import { nameOf } from "../../bench/depth/listings.ts"
import { seedSqlite } from "../../bench/seed/seedSqlite.ts"
import { ScratchFolder } from "../storage/ScratchFolder.ts"
import { AT_LENGTH, unlessAtLength } from "../properties/atLength.ts"
import { queriesOf } from "./sampledQueries.ts"
import { size, storm } from "./storm.ts"

const LIMIT = 10

/** Making the file takes long, and plans.test.ts looks at the plan of each list in every run. */
const UNCOUNTED = process.platform !== "linux" || !AT_LENGTH

/** Pages of the file from the root of an index or table to a row. */
const DEPTH = 5

/** Of each of 56 ranges that are merged the first row, and the rows of the page with their incidents. */
const MOST_BYTES = (56 * 2 + LIMIT * 3) * DEPTH * 4096

const COUNTER = "/proc/thread-self/io"

/** How many bytes this thread has read from files. */
const bytesRead = (): number => Number(/rchar: (\d+)/.exec(readFileSync(COUNTER, "utf8"))?.[1])

class Seeded extends Context.Service<
  Seeded,
  {
    /** Reads every page that a statement needs from the file, but for the last few. */
    readonly database: DatabaseSync
    /** Keeps in memory what it has read: finds where a deep page begins, and is not counted. */
    readonly finder: DatabaseSync
  }
>()("@tocsin/test/depth/SeededFile") {}

const seeded = Layer.effect(
  Seeded,
  Effect.gen(function* () {
    const file = join((yield* ScratchFolder).path, "depth.db")
    yield* Effect.promise(() => seedSqlite(file, { size, now: start, report: () => undefined }))
    const open = Effect.acquireRelease(
      Effect.sync(() => new DatabaseSync(file, { readBigInts: true })),
      (opened) => Effect.sync(() => opened.close()),
    )
    const [database, finder] = yield* Effect.all([open, open])
    for (const text of storm) database.exec(text)
    database.exec("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA cache_size = 20")
    finder.exec("PRAGMA cache_size = -262144")
    return { database, finder }
  }),
).pipe(Layer.provide(ScratchFolder.layer))

layer(seeded, { timeout: "10 minutes" })("a page of any list, in a file of many rows", (it) => {
  it.effect.skipIf(UNCOUNTED)(`costs what its rows cost, at any depth${unlessAtLength}`, () =>
    Effect.gen(function* () {
      const { database, finder } = yield* Seeded
      const run: RunSql = (text) => Promise.resolve(finder.prepare(text).all())
      for (const query of queriesOf(0)) {
        const deep = yield* Effect.promise(() => deepPosition(run, query, 1_000))
        for (const from of [undefined, ...(deep === undefined ? [] : [deep])]) {
          // Each query belongs to its own list.
          const request = { ...query, from, isBackward: false, limit: LIMIT } as PageRequest<ListName>
          const statements = pageStatements(request as PageRequest<"agents">, {
            notifiers: NotifierKind.literals,
          }).map(({ sql, values }) => ({ statement: database.prepare(sql), values }))
          const before = bytesRead()
          for (const { statement, values } of statements) statement.all(...values)
          assert.isAtMost(bytesRead() - before, MOST_BYTES, nameOf(query))
        }
      }
    }),
  )

  it.effect.skipIf(UNCOUNTED)(`is counted: a pass over a table reads more${unlessAtLength}`, () =>
    Effect.gen(function* () {
      const { database } = yield* Seeded
      const before = bytesRead()
      database.prepare("SELECT * FROM incident ORDER BY summary LIMIT 10").all()
      assert.isAbove(bytesRead() - before, MOST_BYTES)
    }),
  )
})
