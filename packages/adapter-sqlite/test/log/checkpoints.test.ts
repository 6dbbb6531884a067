import fs, { statSync } from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { DatabaseSync } from "node:sqlite"
import threads from "node:worker_threads"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { eventually } from "../eventually.ts"
import { agentIds, names, openStorage, putAgent, scratchFile } from "../ScratchFile.ts"
import { CheckpointWorker } from "../../src/log/Checkpoints.ts"
import { beginnings, FRAME_BYTES, readOn } from "./logInspection.ts"
import { transact } from "@tocsin/testing/transact"

/** Every volume has 10 MiB of free space, until the scope ends. */
const onSmallVolume = Effect.acquireRelease(
  Effect.sync(() => {
    const original = fs.statfsSync
    const statfs = (path: fs.PathLike) => ({ ...original(path), bavail: 2_560, bsize: 4_096 })
    // The overload with bigint has no caller.
    fs.statfsSync = statfs as typeof original
    syncBuiltinESMExports()
    return original
  }),
  (original) =>
    Effect.sync(() => {
      fs.statfsSync = original
      syncBuiltinESMExports()
    }),
)

/** No thread begins, as at a host's limit of processes or without a grant of the runtime, until `allow`. */
const withoutThreads = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => {
      const original = threads.Worker
      threads.Worker = new Proxy(original, {
        construct: () => {
          throw Object.assign(new Error("EAGAIN"), { code: "ERR_WORKER_INIT_FAILED" })
        },
      })
      syncBuiltinESMExports()
      return Effect.sync(() => {
        threads.Worker = original
        syncBuiltinESMExports()
      })
    }),
    (allow) => allow,
  ),
  (allow) => ({ allow }),
)

describe("checkpoints", () => {
  it.effect("come sooner on a small volume, most of which is for the database", () =>
    Effect.gen(function* () {
      yield* onSmallVolume
      const file = yield* scratchFile
      const storage = yield* openStorage(file)
      const before = beginnings(file)
      const agents = names(1_000)
      yield* Effect.forEach(agents, (name) => transact(storage, putAgent(name)), { concurrency: 8 })
      yield* eventually(
        Effect.sync(() => beginnings(file)),
        (count) => count > before,
      )
    }),
  )

  it.effect("keep the log short while writing goes on, and all is there", () =>
    Effect.gen(function* () {
      const file = yield* scratchFile
      const storage = yield* openStorage(file, { log: { checkpointPages: 50 } })
      const before = beginnings(file)
      yield* Effect.forEach(
        names(2_000),
        (name) => transact(storage, putAgent(name, { hostname: name.repeat(20) })),
        { concurrency: 8 },
      )
      assert.isAbove(beginnings(file) - before, 5)
      assert.isBelow(statSync(`${file}-wal`).size, 500 * FRAME_BYTES)
      assert.deepStrictEqual(yield* agentIds(storage), names(2_000))
      const other = new DatabaseSync(file, { readOnly: true })
      const { integrity_check } = other.prepare("PRAGMA integrity_check").get() ?? {}
      other.close()
      assert.strictEqual(integrity_check, "ok")
    }),
  )

  it.effect("a reader that does not end: commands are refused by name before the log fills the disk", () =>
    Effect.gen(function* () {
      const file = yield* scratchFile
      const storage = yield* openStorage(file, { log: { checkpointPages: 50, mostPages: 200 } })
      const reader = yield* readOn(file)
      const write = (name: string) => Effect.result(transact(storage, putAgent(name)))
      const results = yield* Effect.forEach(names(1_000), write)
      const [refused] = results.flatMap((result) => (result._tag === "Failure" ? [result.failure] : []))
      assert.strictEqual(refused?.reason, "unavailable")
      assert.include(refused?.message ?? "", "another process goes on reading")
      assert.isBelow(statSync(`${file}-wal`).size, 300 * FRAME_BYTES)
      assert.strictEqual((yield* Effect.flip(storage.probe)).reason, "unavailable")
      const kept = results.flatMap((result) => (result._tag === "Success" ? [result.success] : []))
      assert.deepStrictEqual(yield* agentIds(storage), kept)
      yield* reader.stop
      yield* eventually(Effect.exit(transact(storage, putAgent("z"))), Exit.isSuccess)
      assert.deepStrictEqual(yield* agentIds(storage), [...kept, "z"])
    }),
  )

  it.effect("that can begin no thread have failed, which ends no program, and are tried again", () =>
    Effect.gen(function* () {
      const file = yield* scratchFile
      yield* openStorage(file)
      const worker = new CheckpointWorker({ file, keptBytes: 0 })
      const move = Effect.promise(() => new Promise((resolve) => worker.run({ step: "move" }, resolve)))
      const { allow } = yield* withoutThreads
      assert.deepStrictEqual(yield* move, { failure: "Error: EAGAIN" })
      yield* allow
      assert.include(yield* move, { hasStartedOver: false })
      yield* Effect.promise(() => new Promise<void>((done) => worker.close(done)))
    }),
  )
})
