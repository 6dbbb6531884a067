import { closeSync, copyFileSync, openSync, readFileSync, readSync, statSync, writeSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { isLogIntact } from "../../src/log/isLogIntact.ts"
import { agentIds, names, openStorage, putAgent, scratchFile } from "../ScratchFile.ts"
import { SlowDisk } from "./SlowDisk.ts"

const HEADER_BYTES = 32
const FRAME_BYTES = 24 + 4_096
const SEQUENCE_AT = 12

/** How often a file's log was begun anew. */
const beginnings = (file: string): number => readFileSync(`${file}-wal`).readUInt32BE(SEQUENCE_AT)

/** Changes a byte of one page of a log. */
const spoil = (log: string, page: number): void => {
  const descriptor = openSync(log, "r+")
  const at = HEADER_BYTES + page * FRAME_BYTES + 2_000
  const byte = Buffer.alloc(1)
  readSync(descriptor, byte, 0, 1, at)
  writeSync(descriptor, Buffer.of(byte.readUInt8(0) ^ 1), 0, 1, at)
  closeSync(descriptor)
}

/** How many pages of a log are in use; its file is longer. */
const pagesInUse = (file: string): number => {
  const reader = new DatabaseSync(file, { readOnly: true, returnArrays: true })
  const row: unknown = reader.prepare("PRAGMA wal_checkpoint(NOOP)").get()
  reader.close()
  return (row as [busy: number, pages: number, moved: number])[1]
}

/** Reads from a file, and from its log as it is now, until the scope ends or `stop`. */
const readOn = (file: string) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => {
        const reader = new DatabaseSync(file)
        reader.exec("BEGIN")
        reader.prepare("SELECT count(*) FROM agent").get()
        return reader
      }),
      (reader) => Effect.sync(() => reader.close()),
    ),
    (reader) => ({ stop: Effect.sync(() => reader.exec("COMMIT")) }),
  )

/** Lets the event loop turn, timers included. */
const turn: Effect.Effect<void> = Effect.callback((resume) => {
  setTimeout(() => resume(Effect.void), 1)
})

const eventually = <A, E>(look: Effect.Effect<A, E>, isAwaited: (seen: A) => boolean): Effect.Effect<A, E> =>
  Effect.flatMap(look, (seen) =>
    isAwaited(seen) ? Effect.succeed(seen) : Effect.andThen(turn, eventually(look, isAwaited)),
  )

describe("checkpoints", () => {
  it.effect("keep the log short while writing goes on, and all is there", () =>
    Effect.gen(function* () {
      const file = yield* scratchFile
      const storage = yield* openStorage(file, { log: { checkpointPages: 50 } })
      const before = beginnings(file)
      yield* Effect.forEach(
        names(2_000),
        (name) => storage.transact(putAgent(name, { hostname: name.repeat(20) })),
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
      const write = (name: string) => Effect.result(storage.transact(putAgent(name)))
      const results = yield* Effect.forEach(names(1_000), write)
      const [refused] = results.flatMap((result) => (result._tag === "Failure" ? [result.failure] : []))
      assert.strictEqual(refused?.reason, "unavailable")
      assert.include(refused?.message ?? "", "another process goes on reading")
      assert.isBelow(statSync(`${file}-wal`).size, 300 * FRAME_BYTES)
      assert.strictEqual((yield* Effect.flip(storage.probe)).reason, "unavailable")
      const kept = results.flatMap((result) => (result._tag === "Success" ? [result.success] : []))
      assert.deepStrictEqual(yield* agentIds(storage), kept)
      yield* reader.stop
      yield* eventually(Effect.exit(storage.transact(putAgent("z"))), Exit.isSuccess)
      assert.deepStrictEqual(yield* agentIds(storage), [...kept, "z"])
    }),
  )
})

describe("a log after a sync that failed", () => {
  it.effect("is intact as far as every page reads back as it was written", () =>
    Effect.gen(function* () {
      const [file, copy] = [yield* scratchFile, yield* scratchFile]
      const storage = yield* openStorage(file)
      yield* Effect.forEach(names(20), (name) => storage.transact(putAgent(name)))
      copyFileSync(`${file}-wal`, copy)
      const pages = pagesInUse(file)
      assert.isAbove(pages, 20)
      const intact = Array.from({ length: 21 }, (_, n) => n).filter((count) => isLogIntact(copy, count))
      assert.lengthOf(intact, 21)
      assert.isFalse(isLogIntact(copy, pages + 1))
      spoil(copy, 9)
      assert.isTrue(isLogIntact(copy, 9))
      assert.isFalse(isLogIntact(copy, 10))
    }),
  )

  it.effect("that does not read back is never moved into the file, and nothing is taken any more", () =>
    Effect.gen(function* () {
      const [file, copy] = [yield* scratchFile, yield* scratchFile]
      const disk = new SlowDisk()
      const storage = yield* openStorage(file, { log: { sync: disk.sync } })
      const acknowledged = yield* Effect.forEach(names(20), (name) => storage.transact(putAgent(name)))
      const size = statSync(file).size
      disk.hang()
      const lost = yield* Effect.forkChild(storage.transact(putAgent("lost")), { startImmediately: true })
      yield* eventually(
        Effect.sync(() => disk.hanging),
        (count) => count === 1,
      )
      // As if the system had forgotten what it could not write.
      spoil(`${file}-wal`, pagesInUse(file) - 1)
      disk.fail()
      yield* eventually(
        Effect.sync(() => lost.pollUnsafe()),
        (exit) => exit !== undefined,
      )
      disk.work()
      for (let turns = 0; turns < 300; turns++) yield* turn
      assert.strictEqual((yield* Effect.flip(storage.transact(putAgent("refused")))).reason, "unavailable")
      assert.strictEqual(statSync(file).size, size)
      for (const suffix of ["", "-wal"]) copyFileSync(`${file}${suffix}`, `${copy}${suffix}`)
      assert.deepStrictEqual(yield* agentIds(yield* openStorage(copy)), acknowledged)
    }),
  )
})
