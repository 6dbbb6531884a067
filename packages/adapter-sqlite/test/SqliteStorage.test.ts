import { chmodSync, existsSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { AgentId } from "@tocsin/contract/formats/Identifiers"
import { agentRecord, checkRecord } from "@tocsin/testing/records"
import { Effect } from "effect"
import { afterEach, vi } from "vitest"
import { IN_MEMORY, SqliteConnection } from "../src/connection/SqliteConnection.ts"
import { agentIds, names, openStorage, putAgent, scratchFile } from "./ScratchFile.ts"
import { transact } from "@tocsin/testing/transact"

describe("the file", () => {
  it.effect("holds everything after it was closed, and no log stays beside it", () =>
    Effect.gen(function* () {
      const file = yield* scratchFile
      yield* Effect.scoped(Effect.flatMap(openStorage(file), (storage) => transact(storage, putAgent("a"))))
      assert.isFalse(existsSync(`${file}-wal`))
      const storage = yield* openStorage(file)
      assert.deepStrictEqual(yield* storage.agent(AgentId.make("a")), agentRecord("a"))
    }),
  )

  it.effect("is its owner's alone when it is created; one that exists keeps its mode", () =>
    Effect.gen(function* () {
      const file = yield* scratchFile
      const modes = ["", "-wal", "-shm"].map((suffix) => () => statSync(`${file}${suffix}`).mode & 0o777)
      yield* Effect.scoped(
        Effect.gen(function* () {
          const storage = yield* openStorage(file)
          yield* transact(storage, putAgent("a"))
          assert.deepStrictEqual(
            modes.map((mode) => mode()),
            [0o600, 0o600, 0o600],
          )
        }),
      )
      chmodSync(file, 0o640)
      yield* openStorage(file)
      assert.deepStrictEqual(
        modes.map((mode) => mode()),
        [0o640, 0o640, 0o640],
      )
    }),
  )

  it.effect("in memory: nothing outlives the storage, and no file appears", () =>
    Effect.gen(function* () {
      const first = yield* openStorage(":memory:")
      const second = yield* openStorage(":memory:")
      yield* transact(first, putAgent("a"))
      yield* first.probe
      assert.deepStrictEqual(yield* agentIds(first), ["a"])
      assert.deepStrictEqual(yield* agentIds(second), [])
      assert.isFalse(existsSync(":memory:"))
    }),
  )
})

describe("a read of many keys", () => {
  it.effect("lets other work pass, as each read of more than some milliseconds", () =>
    Effect.gen(function* () {
      const storage = yield* openStorage(":memory:")
      const checks = names(40_000).map((name) => checkRecord(agentRecord("a"), name))
      let turns = 0
      const count = () => {
        turns += 1
        next = setImmediate(count)
      }
      let next = setImmediate(count)
      assert.deepStrictEqual(yield* storage.checks(checks), [])
      clearImmediate(next)
      assert.isAtLeast(turns, 3)
    }),
  )
})

describe("a full disk", () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it.effect("refuses by name what does not fit, loses nothing, and goes on when there is space", () =>
    Effect.gen(function* () {
      const file = yield* scratchFile
      let connection: SqliteConnection | undefined
      const open = SqliteConnection.open.bind(SqliteConnection)
      vi.spyOn(SqliteConnection, "open").mockImplementation((path) => (connection = open(path)))
      const storage = yield* openStorage(file)
      const pages = connection?.query<[bigint]>("PRAGMA page_count").get()?.[0]
      connection?.execute(`PRAGMA max_page_count = ${Number(pages) + 10}`)
      const exits = yield* Effect.forEach(
        names(400),
        (name) => Effect.result(transact(storage, putAgent(name, { hostname: "x".repeat(200) }))),
        { concurrency: "unbounded" },
      )
      const kept = exits.flatMap((exit) => (exit._tag === "Success" ? [exit.success] : []))
      const reasons = exits.flatMap((exit) => (exit._tag === "Failure" ? [exit.failure.reason] : []))
      assert.isAbove(kept.length, 0)
      assert.deepStrictEqual(Array.from(new Set(reasons)), ["full"])
      assert.deepStrictEqual(yield* agentIds(storage), kept)
      yield* storage.probe
      connection?.execute("PRAGMA max_page_count = 100000")
      yield* Effect.forEach(names(400), (name) => transact(storage, putAgent(name)), {
        concurrency: "unbounded",
      })
      assert.deepStrictEqual(yield* agentIds(storage), names(400))
    }),
  )
})

describe("a read that fails in a snapshot", () => {
  it("says why, though SQLite has ended the transaction, as it does where a disk fails", () => {
    const connection = SqliteConnection.open(IN_MEMORY)
    const failure = new Error("disk I/O error")
    const read = () =>
      connection.snapshot(() => {
        connection.execute("ROLLBACK")
        throw failure
      })
    assert.throws(read, failure)
    assert.strictEqual(
      connection.snapshot(() => "the next one is read"),
      "the next one is read",
    )
    connection.close()
  })
})

describe("the write-ahead log", () => {
  it.effect("is moved by checkpoints alone, not by the commit that makes it long", () =>
    Effect.gen(function* () {
      const file = yield* scratchFile
      const connection = SqliteConnection.open(file)
      connection.deferSync()
      connection.transaction(() => connection.execute("CREATE TABLE long AS SELECT zeroblob(8000000)"))
      assert.isAbove(connection.logPages(), 1_900)
      assert.isBelow(statSync(file).size, 100_000)
      connection.close()
      assert.isAbove(statSync(file).size, 8_000_000)
    }),
  )

  it.effect("stays small, however much is written", () =>
    Effect.gen(function* () {
      const file = yield* scratchFile
      const storage = yield* openStorage(file)
      for (let round = 0; round < 40; round++) {
        yield* Effect.forEach(names(1_000), (name) => transact(storage, putAgent(name)), {
          concurrency: "unbounded",
        })
      }
      assert.isBelow(statSync(`${file}-wal`).size, 16 * 1024 * 1024)
      assert.isTrue(existsSync(dirname(file)))
    }),
  )
})
