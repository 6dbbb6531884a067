import { spawn, spawnSync } from "node:child_process"
import {
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import type { Storage } from "@tocsin/core/kernel/ports/Storage"
import { transact } from "@tocsin/testing/transact"
import { Effect, Exit, Scope } from "effect"
import { backUp } from "../../src/backup/backUp.ts"
import { agentIds, names, openStorage, putAgent, scratchFile } from "../ScratchFile.ts"
import { readOn } from "../log/logInspection.ts"
import { bundledWriter } from "../transactions/bundledWriter.ts"

const WRITER = bundledWriter()

/** A storage with the agent `a`, and its end. */
const openWithAgent = Effect.gen(function* () {
  const file = yield* scratchFile
  const { storage, close } = yield* openAgain(file)
  yield* transact(storage, putAgent("a"))
  return { file, storage, close }
})

const openAgain = Effect.fnUntraced(function* (file: string) {
  const scope = yield* Scope.make()
  const storage = yield* Scope.provide(openStorage(file), scope)
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  return { storage, close: Scope.close(scope, Exit.void) }
})

/** A closed storage with the agent `a`, and its backup. */
const backedUp = Effect.gen(function* () {
  const { file, close } = yield* openWithAgent
  const target = `${file}.backup`
  yield* backUp({ source: file, target, onProgress: () => {}, beforeCheck: Effect.void })
  yield* close
  return { file, backup: target }
})

/** The failures of a command and of the probe. */
const refusals = (storage: Storage["Service"]) =>
  Effect.forEach([storage.probe, transact(storage, putAgent("lost")), storage.probe], (use) =>
    Effect.flip(Effect.asVoid(use)),
  )

const removeLog = (file: string): void => {
  for (const suffix of ["-wal", "-shm"]) rmSync(`${file}${suffix}`)
}

/** The agents in a file without its log, as a killed process leaves it. */
const agentsOfFile = Effect.fnUntraced(function* (file: string) {
  const copy = yield* scratchFile
  copyFileSync(file, copy)
  return yield* agentIds(yield* openStorage(copy))
})

describe("a file that is removed or replaced while it is open", () => {
  it.effect("the database: nothing is acknowledged until it is back", () =>
    Effect.gen(function* () {
      const file = yield* scratchFile
      const storage = yield* openStorage(file)
      yield* transact(storage, putAgent("a"))
      const refused = Effect.forEach([transact(storage, putAgent("lost")), storage.probe], (use) =>
        Effect.flip(Effect.asVoid(use)),
      )
      renameSync(file, `${file}.away`)
      for (const error of yield* refused) {
        assert.strictEqual(error.reason, "unavailable")
        assert.include(error.message, "was removed or moved")
      }
      writeFileSync(file, "")
      for (const error of yield* refused) {
        assert.strictEqual(error.reason, "unavailable")
        assert.include(error.message, "was replaced")
      }
      renameSync(`${file}.away`, file)
      yield* storage.probe
      yield* transact(storage, putAgent("b"))
      assert.deepStrictEqual(yield* agentIds(storage), ["a", "b"])
    }),
  )

  it.effect(
    "the database, overwritten by a backup: commands are refused, and the backup stays as it is",
    () =>
      Effect.gen(function* () {
        const { file, backup } = yield* backedUp
        const { storage, close } = yield* openAgain(file)
        yield* transact(storage, putAgent("b"))
        copyFileSync(backup, file)
        for (const error of yield* refusals(storage)) assert.include(error.message, "was replaced")
        yield* close
        assert.isTrue(readFileSync(file).equals(readFileSync(backup)))
        removeLog(file)
        assert.deepStrictEqual(yield* agentIds(yield* openStorage(file)), ["a"])
      }),
  )

  it.effect("the database, overwritten by an older copy", () =>
    Effect.gen(function* () {
      const { file, close } = yield* openWithAgent
      yield* close
      copyFileSync(file, `${file}.copy`)
      for (const name of ["b", "c"]) {
        yield* Effect.scoped(Effect.flatMap(openStorage(file), (opened) => transact(opened, putAgent(name))))
      }
      const storage = yield* openStorage(file)
      copyFileSync(`${file}.copy`, file)
      for (const error of yield* refusals(storage)) assert.include(error.message, "was replaced")
    }),
  )

  it.effect(
    "the database, emptied: it keeps its log, which has what was acknowledged since the last move",
    () =>
      Effect.gen(function* () {
        const { file, storage, close } = yield* openWithAgent
        const log = readFileSync(`${file}-wal`)
        truncateSync(file)
        for (const error of yield* refusals(storage)) assert.include(error.message, "was replaced")
        yield* close
        assert.isTrue(readFileSync(`${file}-wal`).equals(log))
      }),
  )

  it.effect("its log, by a process that takes itself for the last: not while any storage is open", () =>
    Effect.gen(function* () {
      const { file, storage } = yield* openWithAgent
      // Its end must not drop the locks of the other one.
      yield* Effect.scoped(openStorage(file))
      const { stdout } = spawnSync(process.execPath, [WRITER, file, "other", "1"], { encoding: "utf8" })
      assert.strictEqual(stdout, "other0\n")
      yield* transact(storage, putAgent("b"))
      assert.deepStrictEqual(yield* agentIds(storage), ["a", "b", "other0"])
    }),
  )

  it.effect("checkpoints of this and other processes are no replacement", () =>
    Effect.gen(function* () {
      const file = yield* scratchFile
      const storage = yield* openStorage(file, { log: { checkpointPages: 20 } })
      const writer = spawn(process.execPath, [WRITER, file, "other", "300", "20"], { stdio: "ignore" })
      const ended = new Promise((resolve) => writer.on("close", resolve))
      yield* Effect.forEach(names(300), (name) =>
        Effect.andThen(transact(storage, putAgent(name)), storage.probe),
      )
      yield* Effect.promise(() => ended)
      yield* storage.probe
      assert.lengthOf(yield* agentIds(storage), 600)
    }),
  )

  it.effect("its log: commands are refused, and a kill loses nothing that was acknowledged", () =>
    Effect.gen(function* () {
      const { file, storage, close } = yield* openWithAgent
      removeLog(file)
      for (const error of yield* refusals(storage)) {
        assert.strictEqual(error.reason, "unavailable")
        assert.include(error.message, `${file}-wal was removed or replaced`)
      }
      assert.deepStrictEqual(yield* agentsOfFile(file), ["a"])
      yield* close
      assert.deepStrictEqual(yield* agentIds(yield* openStorage(file)), ["a"])
    }),
  )

  it.effect.each(["look", "end"])(
    "its log, while a reader keeps it from being moved: the next %s saves it",
    (saver) =>
      Effect.gen(function* () {
        const { file, storage, close } = yield* openWithAgent
        yield* Effect.scoped(
          Effect.gen(function* () {
            yield* readOn(file)
            yield* transact(storage, putAgent("b"))
            removeLog(file)
            yield* refusals(storage)
            assert.notInclude(yield* agentsOfFile(file), "b")
          }),
        )
        yield* saver === "look" ? Effect.flip(storage.probe) : close
        assert.deepStrictEqual(yield* agentsOfFile(file), ["a", "b"])
      }),
  )

  it.effect("its log: a command that makes another one loses nothing either", () =>
    Effect.gen(function* () {
      const { file, storage, close } = yield* openWithAgent
      removeLog(file)
      yield* Effect.flip(storage.probe)
      const { stdout } = spawnSync(process.execPath, [WRITER, file, "other", "1"], { encoding: "utf8" })
      assert.strictEqual(stdout, "other0\n")
      yield* refusals(storage)
      yield* close
      assert.deepStrictEqual(yield* agentIds(yield* openStorage(file)), ["a", "other0"])
    }),
  )

  it.effect("its log: moved away and back, it is in use again", () =>
    Effect.gen(function* () {
      const { file, storage, close } = yield* openWithAgent
      renameSync(`${file}-wal`, `${file}.away`)
      yield* refusals(storage)
      renameSync(`${file}.away`, `${file}-wal`)
      yield* transact(storage, putAgent("b"))
      yield* close
      assert.deepStrictEqual(yield* agentIds(yield* openStorage(file)), ["a", "b"])
    }),
  )

  it.effect("the index of its log: the probe notices it, and commands are refused from then on", () =>
    Effect.gen(function* () {
      const { file, storage, close } = yield* openWithAgent
      rmSync(`${file}-shm`)
      for (const error of yield* refusals(storage)) {
        assert.include(error.message, `${file}-shm was removed or replaced`)
      }
      assert.deepStrictEqual(yield* agentsOfFile(file), ["a"])
      yield* close
      assert.isFalse(existsSync(`${file}-wal`))
      assert.deepStrictEqual(yield* agentIds(yield* openStorage(file)), ["a"])
    }),
  )
})
