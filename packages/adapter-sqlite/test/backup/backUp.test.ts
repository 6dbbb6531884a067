import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import process from "node:process"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { backUp } from "../../src/backup/backUp.ts"
import { openStorage, putAgent, scratchFile } from "../ScratchFile.ts"
import { transact } from "@tocsin/testing/transact"

const PERMISSIONS = 0o777

/** A database, and a function that backs it up to `target` and looks at the files meanwhile. */
const openSource = Effect.gen(function* () {
  const source = yield* scratchFile
  const storage = yield* openStorage(source)
  yield* transact(storage, putAgent("a"))
  const target = join(dirname(source), "copy.db")
  const lookDuring = Effect.fnUntraced(function* (look: () => void) {
    yield* backUp({ source, target, onProgress: look, beforeCheck: Effect.sync(look) })
  })
  return { source, target, lookDuring }
})

const unfinishedIn = (target: string): ReadonlyArray<string> =>
  readdirSync(dirname(target)).filter(
    (name) => name.startsWith(basename(target)) && name.includes("unfinished"),
  )

describe("the partial copy of a backup", () => {
  it.effect("can be read by its owner only, whatever the database allows", () =>
    Effect.gen(function* () {
      const { lookDuring, source, target } = yield* openSource
      chmodSync(source, 0o640)
      const modes = new Set<number>()
      yield* lookDuring(() => {
        for (const name of unfinishedIn(target))
          modes.add(statSync(join(dirname(target), name)).mode & PERMISSIONS)
      })
      assert.deepStrictEqual(Array.from(modes), [0o600])
      assert.strictEqual(statSync(target).mode & PERMISSIONS, 0o640)
      assert.deepStrictEqual(unfinishedIn(target), [])
    }),
  )

  it.effect("takes the place of no database that a program has opened meanwhile", () =>
    Effect.gen(function* () {
      const { lookDuring, source, target } = yield* openSource
      yield* lookDuring(() => {})
      let other: DatabaseSync | undefined
      yield* Effect.addFinalizer(() => Effect.sync(() => other?.close()))
      const use = () => {
        other ??= new DatabaseSync(target)
        other.exec("PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS theirs (n)")
      }
      const failure = yield* Effect.flip(lookDuring(use))
      assert.include(failure.message, `${target} is a database in use`)
      assert.isTrue(existsSync(source))
      assert.deepStrictEqual(unfinishedIn(target), [])
    }),
  )

  it.effect("of a process that is gone is removed by the next backup to the same file", () =>
    Effect.gen(function* () {
      const { lookDuring, target } = yield* openSource
      const { pid } = spawnSync(process.execPath, ["--version"])
      // Containers give the same numbers again.
      const own = `${target}.${process.pid}.unfinished`
      const gone = [`${target}.${pid}.unfinished`, `${target}.${pid}.unfinished-journal`]
      const others = [`${target}.${process.ppid}.unfinished`, `${target}2.${pid}.unfinished`]
      for (const file of [own, ...gone, ...others]) writeFileSync(file, "part of a copy")
      yield* lookDuring(() =>
        assert.deepStrictEqual(
          gone.map((file) => existsSync(file)),
          [false, false],
        ),
      )
      assert.deepStrictEqual(
        [own, ...others].map((file) => existsSync(file)),
        [false, true, true],
      )
      assert.isTrue(existsSync(target))
    }),
  )
})
