import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import * as PgStorage from "@tocsin/adapter-pg/PgStorage"
import * as SqliteStorage from "@tocsin/adapter-sqlite/SqliteStorage"
import { Context, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { seedPostgres } from "../../bench/seed/seedPostgres.ts"
import { seedSqlite } from "../../bench/seed/seedSqlite.ts"
import { partOfFullSize } from "../../bench/seed/SeedSize.ts"
import { ScratchPostgres } from "../postgres/ScratchPostgres.ts"
import { inconsistencies } from "@tocsin/testing/inconsistencies"
import { openReplica, type Replica } from "@tocsin/testing/Replica"
import { listNames } from "@tocsin/core/lists/ListDefinitions"
import { rowsOf } from "@tocsin/testing/rowsOf"
import { START_MILLIS, start } from "@tocsin/testing/samples"
import { ScratchFolder } from "../storage/ScratchFolder.ts"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"

/** Few rows of history, which all are read: two for each check. */
const size = { ...partOfFullSize(1_000), history: 2_000 }
const options = { size, now: start, report: () => undefined }

const seededSqlite: StorageUnderTest<ScratchFolder> = {
  name: "SQLite",
  place: ScratchFolder.layer,
  client: Layer.unwrap(
    Effect.gen(function* () {
      const file = join((yield* ScratchFolder).path, "tocsin.db")
      yield* Effect.promise(() => seedSqlite(file, options))
      return SqliteStorage.layer({ file })
    }),
  ),
}

const seededPostgres: StorageUnderTest<ScratchPostgres> = {
  name: "PostgreSQL",
  place: ScratchPostgres.layer,
  client: Layer.unwrap(
    Effect.gen(function* () {
      const { url } = yield* ScratchPostgres
      yield* Effect.promise(() => seedPostgres(Redacted.value(url), options))
      return PgStorage.layer({ url })
    }),
  ),
}

/** One for all tests of a storage, which only read. */
class Seeded extends Context.Service<Seeded, Replica>()("@tocsin/test/depth/Seeded") {}

const describeSeed = <Place>(subject: StorageUnderTest<Place>): void => {
  layer(Layer.effect(Seeded, openReplica(subject)))(`a seeded storage on ${subject.name}`, (it) => {
    it.effect("holds the requested number of rows, as decisions would have written them", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(START_MILLIS)
        const replica = yield* Seeded
        assert.deepStrictEqual(yield* inconsistencies(replica), [])
        const counts = yield* Effect.forEach(listNames, (list) =>
          Effect.map(rowsOf(replica, list), (rows) => [list, rows.length] as const),
        )
        const filled = Object.fromEntries(counts.filter(([, count]) => count > 0))
        assert.deepStrictEqual(filled, { ...size, blacklist: size.agents / 20 })
      }),
    )

    it.effect("has the labels and texts that its statements spell out", () =>
      Effect.gen(function* () {
        const replica = yield* Seeded
        const [agents, checks, history] = [
          yield* rowsOf(replica, "agents"),
          yield* rowsOf(replica, "checks"),
          yield* rowsOf(replica, "history"),
        ]
        for (const rows of [agents, checks, history]) assert.isNotEmpty(rows)
        for (const { labels } of agents) assert.match(labels?.["role"] ?? "", /^web-\d+$/)
        for (const { summary } of checks) assert.match(summary ?? "", /^check \d+ took \d+ ms;/)
        for (const { output } of history)
          assert.match(output ?? "", /^result \d+: the disk of this host is \d+ percent full$/)
      }),
    )

    it.effect("looks like one that was in use a moment ago", () =>
      Effect.gen(function* () {
        yield* TestClock.setTime(START_MILLIS)
        const { queries, storage } = yield* Seeded
        const summary = yield* queries.summary
        assert.deepInclude(summary, { agents_online: 97, agents_offline: 2 })
        assert.isAbove(summary.open_incidents, 30)
        assert.isAbove(summary.checks_ok, 900)
        assert.strictEqual((yield* storage.serviceHeartbeat)?.beat_at, start)
      }),
    )
  })
}

describeSeed(seededSqlite)
describeSeed(seededPostgres)
