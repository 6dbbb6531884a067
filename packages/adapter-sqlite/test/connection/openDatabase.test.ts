import { createHash } from "node:crypto"
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  closeSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { basename, dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import type { StorageFailure } from "@tocsin/core/kernel/ports/Storage"
import { start } from "@tocsin/testing/samples"
import { Effect, Logger } from "effect"
import { SqliteConnection } from "../../src/connection/SqliteConnection.ts"
import { inspectStorage } from "../../src/inspection/inspectStorage.ts"
import { migrate } from "../../src/migrations/migrate.ts"
import { agentIds, names, openStorage, putAgent, scratchFile } from "../ScratchFile.ts"
import { transact } from "@tocsin/testing/transact"
import { testsFrom } from "@tocsin/testing/testsFrom"

const PAGE_BYTES = 4096

/** Writes agents into a new storage and closes it. */
const writeDatabase = (file: string, count = 500) =>
  Effect.scoped(
    Effect.gen(function* () {
      const storage = yield* openStorage(file)
      yield* Effect.forEach(names(count), (name) => transact(storage, putAgent(name)), {
        concurrency: "unbounded",
      })
    }),
  )

const withSql = (file: string, sql: string): void => {
  const database = new DatabaseSync(file)
  database.exec(sql)
  database.close()
}

/** Puts back an older state of a file whose last process was killed, and leaves that one's log. */
const restoreBesideLog = (file: string): void => {
  const [older, log] = [`${file}.older`, `${file}-wal`]
  copyFileSync(file, older)
  for (const table of ["one", "two"]) withSql(file, `CREATE TABLE ${table} (n INTEGER)`)
  const killed = new DatabaseSync(file)
  killed.exec("CREATE TABLE more (n INTEGER)")
  copyFileSync(log, `${file}.log`)
  killed.close()
  renameSync(older, file)
  renameSync(`${file}.log`, log)
}

interface Refusal {
  readonly name: string
  readonly reason: StorageFailure
  readonly says: string
  /** Makes of a good database, closed, what is to be refused. */
  readonly spoil: (file: string) => void
}

const refusals: ReadonlyArray<Refusal> = [
  {
    name: "a file that is no database",
    reason: "damaged",
    says: "is not an SQLite database",
    spoil: (file) => writeFileSync(file, "agents: none\n".repeat(100)),
  },
  {
    name: "a file too short for a header",
    reason: "damaged",
    says: "is not an SQLite database",
    spoil: (file) => truncateSync(file, 50),
  },
  {
    name: "a file that was cut off",
    reason: "damaged",
    says: "is truncated",
    spoil: (file) => truncateSync(file, statSync(file).size / 2),
  },
  {
    name: "a file that lacks its last bytes",
    reason: "damaged",
    says: "is truncated",
    spoil: (file) => truncateSync(file, statSync(file).size - 1),
  },
  {
    name: "an empty file beside its log",
    reason: "damaged",
    says: "is empty, but",
    spoil: (file) => {
      writeFileSync(`${file}-wal`, readFileSync(file))
      truncateSync(file, 0)
    },
  },
  {
    name: "an older copy beside the log of the file that it replaced",
    reason: "damaged",
    says: "does not belong to",
    spoil: restoreBesideLog,
  },
  {
    name: "a backup, which has no log, beside that log",
    reason: "damaged",
    says: "does not belong to",
    spoil: (file) => {
      restoreBesideLog(file)
      // Read with the log of another state, the file would be damaged.
      renameSync(`${file}-wal`, `${file}.log`)
      withSql(file, "PRAGMA journal_mode = DELETE")
      renameSync(`${file}.log`, `${file}-wal`)
    },
  },
  {
    name: "a file with garbage after its first page",
    reason: "damaged",
    says: "restore the file from a backup",
    spoil: (file) => {
      const size = statSync(file).size
      const descriptor = openSync(file, "r+")
      writeSync(descriptor, Buffer.alloc(size - PAGE_BYTES, 0xa5), 0, size - PAGE_BYTES, PAGE_BYTES)
      closeSync(descriptor)
    },
  },
  {
    name: "a database that is newer than the code",
    reason: "newer",
    says: "newer version of Tocsin",
    spoil: (file) => withSql(file, "INSERT INTO schema_migration VALUES (9999, 'to come', 'unknown', 0)"),
  },
  {
    name: "a database of 0.1.0",
    reason: "other",
    says: "written by Tocsin 0.1.0",
    spoil: (file) => withSql(file, "UPDATE schema_migration SET checksum = 'other' WHERE id = 1"),
  },
  {
    name: "a database of another program",
    reason: "other",
    says: "another program",
    spoil: (file) => {
      rmSync(file)
      withSql(file, "CREATE TABLE bookmark (url TEXT)")
    },
  },
]

const checksum = (file: string): string => createHash("sha256").update(readFileSync(file)).digest("hex")

/** One clause that says what is wrong, one that says what to do. */
const isOneSentence = (message: string): boolean =>
  /^[^\n]+[:,] [^\n]+[^.\n]$/.test(message) && !message.includes(". ")

const test = testsFrom(scratchFile, it.effect)

describe("a start is refused for", () => {
  it.effect.each(refusals)("$name", ({ reason, says, spoil }) =>
    Effect.gen(function* () {
      const file = yield* scratchFile
      yield* writeDatabase(file)
      spoil(file)
      const before = checksum(file)
      const error = yield* Effect.flip(Effect.scoped(openStorage(file)))
      assert.strictEqual(error.reason, reason)
      assert.include(error.message, says)
      assert.include(error.message, file)
      assert.isTrue(isOneSentence(error.message), error.message)
      assert.strictEqual(checksum(file), before)
    }),
  )

  test("a folder that is not there, and a place that is no file", function* (file) {
    const nowhere = join(dirname(file), "missing", "tocsin.db")
    const missing = yield* Effect.flip(Effect.scoped(openStorage(nowhere)))
    assert.strictEqual(missing.reason, "unavailable")
    assert.include(missing.message, "create it")
    mkdirSync(file)
    const folder = yield* Effect.flip(Effect.scoped(openStorage(file)))
    assert.strictEqual(folder.reason, "unavailable")
    assert.include(folder.message, "not a regular file")
    assert.isFalse(existsSync(dirname(nowhere)))
  })
})

describe("a start accepts odd files", () => {
  test("an empty file is a new database", function* (file) {
    writeFileSync(file, "")
    const storage = yield* openStorage(file)
    assert.deepStrictEqual(yield* agentIds(storage), [])
  })

  it.effect("a file that its process had begun to make when it ended", () =>
    Effect.gen(function* () {
      const [file, copy] = [yield* scratchFile, yield* scratchFile]
      const database = new DatabaseSync(file)
      // More than its memory holds, so that pages are in the file before the commit.
      database.exec(`
        PRAGMA cache_size = 1;
        BEGIN;
        CREATE TABLE begun AS
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50)
        SELECT zeroblob(${PAGE_BYTES}) FROM n;
      `)
      assert.isAbove(statSync(file).size, 0)
      for (const suffix of ["", "-journal"]) copyFileSync(`${file}${suffix}`, `${copy}${suffix}`)
      database.close()
      const link = `${copy}.link`
      symlinkSync(basename(copy), link)
      const storage = yield* openStorage(link)
      assert.deepStrictEqual(yield* agentIds(storage), [])
    }),
  )

  test("a symbolic link to a database, or to a place where there is none yet", function* (file) {
    const [link, second] = [`${file}.link`, `${file}.second`]
    symlinkSync(basename(file), link)
    symlinkSync(basename(link), second)
    for (const [path, name] of [
      [second, "a"],
      [link, "b"],
      [file, "c"],
    ] as const) {
      yield* Effect.scoped(Effect.flatMap(openStorage(path), (opened) => transact(opened, putAgent(name))))
    }
    assert.deepStrictEqual(yield* agentIds(yield* openStorage(second)), ["a", "b", "c"])
    assert.deepStrictEqual((yield* inspectStorage(link)).bytes, statSync(file).size)
    assert.isFalse(existsSync(`${link}-wal`))
  })

  it.effect("a file that is short because its process ended while it moved its log into it", () =>
    Effect.gen(function* () {
      const [file, copy] = [yield* scratchFile, yield* scratchFile]
      const storage = yield* openStorage(file)
      const before = statSync(file).size
      yield* Effect.forEach(names(500), (name) => transact(storage, putAgent(name)), {
        concurrency: "unbounded",
      })
      copyFileSync(`${file}-wal`, `${copy}-wal`)
      withSql(file, "PRAGMA wal_checkpoint(PASSIVE)")
      copyFileSync(file, copy)
      assert.isAbove(statSync(copy).size, before)
      // The first page is moved first, and says how long the file is going to be.
      truncateSync(copy, before)
      const recovered = yield* openStorage(copy)
      assert.deepStrictEqual(yield* agentIds(recovered), names(500))
    }),
  )

  it.effect("not so where the log lacks a page as well", () =>
    Effect.gen(function* () {
      const [file, copy] = [yield* scratchFile, yield* scratchFile]
      yield* writeDatabase(file)
      const storage = yield* openStorage(file)
      yield* transact(storage, putAgent("a"))
      for (const suffix of ["", "-wal"]) copyFileSync(`${file}${suffix}`, `${copy}${suffix}`)
      truncateSync(copy, PAGE_BYTES * 4)
      const error = yield* Effect.flip(openStorage(copy))
      assert.strictEqual(error.reason, "damaged")
      assert.include(error.message, "is truncated")
    }),
  )
})

describe("damage that shows later", () => {
  test("is an error by name for the commands that meet it, reading or writing", function* (file) {
    yield* writeDatabase(file, 5_000)
    const pages = statSync(file).size / PAGE_BYTES
    const descriptor = openSync(file, "r+")
    // Behind the schema, and before the late pages that lead to all others; agents fill most of the file.
    for (let page = Math.floor(pages / 2); page < pages * 0.8; page++) {
      writeSync(descriptor, Buffer.alloc(PAGE_BYTES, 0xa5), 0, PAGE_BYTES, page * PAGE_BYTES)
    }
    closeSync(descriptor)
    const storage = yield* openStorage(file)
    const error = yield* Effect.flip(agentIds(storage))
    assert.strictEqual(error.reason, "damaged")
    const written = yield* Effect.forEach(names(5_000), (name) =>
      Effect.result(transact(storage, putAgent(name))),
    )
    const reasons = written.map((result) => (result._tag === "Failure" ? result.failure.reason : "kept"))
    assert.deepStrictEqual(Array.from(new Set(reasons)).toSorted(), ["damaged", "kept"])
  })
})

describe("a start on a database of the present schema", () => {
  test("says nothing", function* (file) {
    const connection = SqliteConnection.open(file)
    migrate(connection, start)
    connection.close()
    const lines: Array<string> = []
    const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
    yield* Effect.scoped(openStorage(file)).pipe(Effect.provide(Logger.layer([logger])))
    assert.deepStrictEqual(lines, [])
  })
})
