import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import {
  copyStorage,
  createMonitor,
  keyValue,
  type KeyValueStore,
  memory,
  type Monitor,
  postgres,
  sqlite,
  type StorageChoice,
  TocsinError,
} from "tocsin"
import { fillEmptyTables } from "../processes/fillEmptyTables.ts"
import { scratchPostgres } from "../processes/scratch.ts"
import { enroll, resultOf, send } from "./requests.ts"

type Load = ReturnType<KeyValueStore["load"]>

/** A stranger's store: a file that each change writes again, and a lock beside it. */
const fileStore = (path: string): StorageChoice =>
  keyValue({
    name: "a file",
    open: async () => {
      writeFileSync(`${path}.lock`, "", { flag: "wx" })
      let entries = new Map<string, string>(existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : [])
      return {
        load: () => entries,
        write: async (changes) => {
          const next = new Map(entries)
          for (const [key, value] of changes) {
            if (value === undefined) next.delete(key)
            else next.set(key, value)
          }
          writeFileSync(`${path}.new`, JSON.stringify(Array.from(next)))
          renameSync(`${path}.new`, path)
          entries = next
        },
        close: async () => rmSync(`${path}.lock`),
      }
    },
  })

/** Another stranger's: a table of keys and values. */
const tableStore = (path: string): StorageChoice =>
  keyValue({
    name: "a table",
    open: async () => {
      const database = new DatabaseSync(path)
      database.exec(
        "PRAGMA locking_mode = EXCLUSIVE; CREATE TABLE IF NOT EXISTS kv (k TEXT PRIMARY KEY, v TEXT)",
      )
      const put = database.prepare("INSERT OR REPLACE INTO kv VALUES (?, ?)")
      const remove = database.prepare("DELETE FROM kv WHERE k = ?")
      return {
        load: (): Load =>
          database
            .prepare("SELECT k, v FROM kv")
            .all()
            .map(({ k, v }) => [String(k), String(v)]),
        write: async (changes) => {
          database.exec("BEGIN")
          for (const [key, value] of changes) {
            if (value === undefined) remove.run(key)
            else put.run(key, value)
          }
          database.exec("COMMIT")
        },
        close: async () => database.close(),
      }
    },
  })

/** Lets a monitor keep something of most kinds. */
const populate = async (monitor: Monitor): Promise<void> => {
  await enroll(monitor, "web-1")
  await enroll(monitor, "web-2")
  await send(
    monitor,
    "web-1",
    resultOf("critical", { incident_key: "Störung \u{1f525} \uffee" }),
    resultOf("ok"),
  )
  await send(monitor, "web-2", resultOf("warning", { incident_key: "10", output: 'e\u0301 \\ " \n2' }))
  await monitor.silences.create({
    matchers: [{ field: "agent_id", op: "=", value: "web-2" }],
    for: "1h",
    comment: "new disks",
  })
  await monitor.policy.apply("routes: [ { match: [ 'check_id = disk' ], to: [debug] } ] # a comment\n")
  const key_fingerprint = await monitor.agents.get("web-2")
  await monitor.agents.block(key_fingerprint.agent_id)
}

const codesOf = async (copied: Promise<unknown>): Promise<ReadonlyArray<string | undefined>> => {
  const error: unknown = await copied.then(
    () => assert.fail("it was copied"),
    (refused: unknown) => refused,
  )
  if (!(error instanceof TocsinError)) throw error
  return [error.code, error.reason, error.message]
}

/** A database, and how to empty it. */
const emptied = Effect.gen(function* () {
  const { replica, url } = yield* scratchPostgres
  const { sql } = yield* replica({ maxConnections: 1, applicationName: "test" })
  const empty = Effect.andThen(sql.unsafe("DROP SCHEMA public CASCADE"), sql.unsafe("CREATE SCHEMA public"))
  return { url: Redacted.value(url), empty }
})

/** Every pair of four kinds, the same kind twice included, one after the other. */
const ROUND =
  "file file table file sqlite file postgres table table sqlite table postgres sqlite sqlite postgres postgres file"

describe("copyStorage", () => {
  it.effect("moves every row between strangers, SQLite and PostgreSQL, each into each", () =>
    Effect.gen(function* () {
      const databases = [yield* emptied, yield* emptied]
      const folder = mkdtempSync(join(tmpdir(), "tocsin-copy-"))
      let made = 0
      const makers: Readonly<Record<string, (path: string) => StorageChoice>> = {
        file: fileStore,
        table: tableStore,
        sqlite,
        postgres: () => postgres(databases[(made + 1) % 2]?.url ?? ""),
      }
      const make = (kind: string) => (makers[kind] ?? memory)(join(folder, `${kind}-${made++}`))
      const first = make("file")
      yield* Effect.promise(async () => {
        await using monitor = await createMonitor({ storage: first, policy: "stored", log: false })
        await populate(monitor)
      })
      const filled = join(folder, "filled.db")
      const real = yield* Effect.promise(() => copyStorage(first, sqlite(filled)))
      assert.isAbove(real.find(({ table }) => table === "audit")?.rows ?? 0, 3)
      // A store has those rows within others.
      fillEmptyTables(filled, ["audit_subject"])
      let from: StorageChoice = make("file")
      const all = yield* Effect.promise(() => copyStorage(sqlite(filled), from, { without: "numbers" }))
      for (const { rows, table } of all) assert.isAbove(rows, 0, table)
      const pairs = new Set<string>()
      const round = ROUND.split(" ")
      for (const [n, kind] of round.slice(1).entries()) {
        pairs.add(`${round[n]} ${kind}`)
        // The other one of two is not the source.
        if (kind === "postgres") yield* databases[made % 2]?.empty ?? Effect.void
        const to = make(kind)
        assert.deepStrictEqual(
          yield* Effect.promise(() => copyStorage(from, to, { without: "numbers" })),
          all,
          `${round[n]} ${kind}`,
        )
        from = to
      }
      assert.strictEqual(pairs.size, 16)
      rmSync(folder, { recursive: true })
    }),
  )

  it.effect(
    "gives a monitor all that another had, and refuses what is not empty, in use, or loses rows",
    () =>
      Effect.promise(async () => {
        const folder = mkdtempSync(join(tmpdir(), "tocsin-copy-"))
        const at = (name: string) => join(folder, name)
        const [source, target] = [fileStore(at("source")), tableStore(at("target"))]
        const shownBy = async (storage: StorageChoice) => {
          await using monitor = await createMonitor({ storage, policy: "stored", log: false })
          return [
            await monitor.agents.list(),
            await monitor.checks.list(),
            (await monitor.incidents.list()).items,
          ]
        }
        {
          await using monitor = await createMonitor({ storage: source, policy: "stored", log: false })
          await populate(monitor)
          assert.deepStrictEqual((await codesOf(copyStorage(source, target))).slice(0, 1), ["storage"])
        }
        await copyStorage(source, target)
        assert.deepStrictEqual(await shownBy(target), await shownBy(source))
        assert.deepStrictEqual((await codesOf(copyStorage(source, target))).slice(0, 2), [
          "storage",
          "in_use",
        ])
        assert.deepStrictEqual((await codesOf(copyStorage(source, memory()))).slice(0, 1), ["options"])
        assert.deepStrictEqual((await codesOf(copyStorage(memory(), target))).slice(0, 1), ["options"])
        for (const options of [
          { without: ["Numbers"] },
          { without: "Numbers" },
          { witout: "numbers" },
          "numbers",
          null,
        ]) {
          const refused = copyStorage(source, target, options as never)
          assert.deepStrictEqual((await codesOf(refused)).slice(0, 1), ["options"])
        }

        const nowhere = join(folder, "nowhere.db")
        assert.deepStrictEqual(await codesOf(copyStorage(sqlite(nowhere), target)), [
          "storage",
          "unavailable",
          `there is no file ${nowhere}: name the one that a monitor has written`,
        ])
        assert.isFalse(existsSync(nowhere))

        const kept = new Map<string, string>()
        const losing = keyValue({
          name: "a store that loses",
          open: async () => ({
            load: () => kept,
            write: async (changes) => {
              for (const [key, value] of changes) {
                if (value === undefined) kept.delete(key)
                else if (!key.startsWith("silence/")) kept.set(key, value)
              }
            },
          }),
        })
        const lost = await codesOf(copyStorage(source, losing))
        assert.deepStrictEqual(lost.slice(0, 2), ["storage", "damaged"])
        assert.match(
          lost[2] ?? "",
          /table silence differs from its source .* a store that loses lacks rows that its write acknowledged/,
        )
        assert.notInclude(lost[2], "disk")
        assert.strictEqual(kept.size, 0)
        rmSync(folder, { recursive: true })
      }),
  )
})
