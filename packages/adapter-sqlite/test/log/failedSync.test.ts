import { spawnSync } from "node:child_process"
import { copyFileSync, existsSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import type { StorageError } from "@tocsin/core/kernel/ports/Storage"
import { Effect, Exit, Fiber, Result, Scope } from "effect"
import { inspectStorage } from "../../src/inspection/inspectStorage.ts"
import { verifyLog } from "../../src/log/verifyOpened.ts"
import { eventually } from "../eventually.ts"
import { agentIds, names, openStorage, putAgent, scratchFile } from "../ScratchFile.ts"
import { beginnings, pagesInUse, readOn, spoil } from "./logInspection.ts"
import { SlowDisk } from "./SlowDisk.ts"
import { transact } from "@tocsin/testing/transact"
import { testsFrom } from "@tocsin/testing/testsFrom"

const END_SPOILED = fileURLToPath(new URL("./endSpoiled.ts", import.meta.url))
const ACKNOWLEDGED = names(20)

/** A storage with some agents, each of them acknowledged. `close` ends it before the test does. */
const openOnFailingDisk = Effect.gen(function* () {
  const disk = new SlowDisk()
  const file = yield* scratchFile
  const failures: Array<string> = []
  const scope = yield* Scope.make()
  const storage = yield* Scope.provide(
    openStorage(file, { log: { sync: disk.sync, onFailed: () => void failures.push("failed") } }),
    scope,
  )
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  yield* Effect.forEach(ACKNOWLEDGED, (name) => transact(storage, putAgent(name)))
  /** Has the sync for one more agent fail, after `meanwhile`. */
  const failSync = Effect.fnUntraced(function* (meanwhile: () => void = () => {}) {
    disk.hang()
    const lost = yield* Effect.forkChild(Effect.flip(transact(storage, putAgent("lost"))), {
      startImmediately: true,
    })
    yield* eventually(
      Effect.sync(() => disk.hanging),
      (count) => count === 1,
    )
    meanwhile()
    disk.fail()
    disk.work()
    return yield* Fiber.join(lost)
  })
  return { file, storage, failSync, failures, close: Scope.close(scope, Exit.void) }
})

type FailingDisk = Effect.Success<typeof openOnFailingDisk>

const REFUSAL = "could not be written to the disk"

/** Waits until the storage refuses for a reason that says this. */
const refusalThat = (storage: FailingDisk["storage"], says: string) =>
  eventually(Effect.result(storage.probe), (probed) => isRefusal(probed, says))

const isRefusal = (probed: Result.Result<void, StorageError>, says: string): boolean =>
  Result.isFailure(probed) && probed.failure.message.includes(says)

/** Makes the page of the log that was written last unreadable, and has its sync fail. */
const poison = ({ file, storage, failSync }: FailingDisk) =>
  Effect.andThen(
    failSync(() => spoil(`${file}-wal`, pagesInUse(file) - 1)),
    refusalThat(storage, REFUSAL),
  )

const integrityOf = (file: string): unknown => {
  const database = new DatabaseSync(file, { readOnly: true })
  const { integrity_check } = database.prepare("PRAGMA integrity_check").get() ?? {}
  database.close()
  return integrity_check
}

const test = testsFrom(openOnFailingDisk, it.effect)

describe("a log after a sync that failed", () => {
  test("is intact as far as every page reads back as it was written", function* ({ file }) {
    const copy = yield* scratchFile
    copyFileSync(`${file}-wal`, copy)
    const pages = pagesInUse(file)
    assert.isAbove(pages, 20)
    const isIntact = (count: number) => verifyLog(copy, { pages: count, isWrittenAgain: false })
    const intact = Array.from({ length: 21 }, (_, n) => n).filter(isIntact)
    assert.lengthOf(intact, 21)
    assert.isFalse(isIntact(pages + 1))
    spoil(copy, 9)
    assert.isTrue(isIntact(9))
    assert.isFalse(isIntact(10))
  })

  test("is written again as it reads back, where that is asked for", function* ({ file }) {
    const copy = yield* scratchFile
    copyFileSync(`${file}-wal`, copy)
    const pages = pagesInUse(file)
    const before = readFileSync(copy)
    const isWritten = (isWrittenAgain: boolean) => {
      utimesSync(copy, 0, 0)
      assert.isTrue(verifyLog(copy, { pages, isWrittenAgain }))
      return statSync(copy).mtimeMs > 0
    }
    assert.deepStrictEqual([isWritten(false), isWritten(true)], [false, true])
    assert.isTrue(readFileSync(copy).equals(before))
  })

  test("takes no commands until it is opened again, which has all that was acknowledged", function* (opened) {
    const { close, failSync, failures, file, storage } = opened
    const before = readFileSync(file)
    const lost = yield* failSync()
    assert.include(lost.message, REFUSAL)
    for (let n = 0; n < 3; n++) {
      assert.strictEqual((yield* Effect.flip(transact(storage, putAgent("refused")))).message, lost.message)
      assert.strictEqual((yield* Effect.flip(storage.probe)).message, lost.message)
    }
    assert.lengthOf(failures, 1)
    yield* close
    assert.isTrue(readFileSync(file).equals(before))
    const again = yield* openStorage(file)
    assert.deepStrictEqual(yield* agentIds(again), [...ACKNOWLEDGED, "lost"])
    yield* transact(again, putAgent("taken"))
    assert.isFalse(existsSync(`${file}-wal-spoiled`))
    assert.strictEqual(integrityOf(file), "ok")
  })

  test("is written again at the next start, however long another process reads it", function* (opened) {
    const { close, failSync, file } = opened
    const before = beginnings(file)
    yield* readOn(file)
    yield* failSync()
    yield* close
    utimesSync(`${file}-wal`, 0, 0)
    const again = yield* openStorage(file)
    assert.strictEqual(beginnings(file), before)
    assert.isAbove(statSync(`${file}-wal`).mtimeMs, 0, "its pages were written again")
    assert.deepStrictEqual(yield* agentIds(again), [...ACKNOWLEDGED, "lost"])
  })
})

describe("a log that does not read back", () => {
  test("is never moved into the file, not at an orderly end either; the next start has all that was acknowledged", function* (disk) {
    const { file, storage } = disk
    const before = readFileSync(file)
    yield* poison(disk)
    const refused = yield* Effect.flip(transact(storage, putAgent("refused")))
    assert.include(refused.message, "start Tocsin again")
    yield* disk.close
    assert.deepStrictEqual(readFileSync(file), before)
    const again = yield* openStorage(file)
    assert.deepStrictEqual(yield* agentIds(again), ACKNOWLEDGED)
    yield* transact(again, putAgent("taken"))
    assert.strictEqual(integrityOf(file), "ok")
    assert.isFalse(existsSync(`${file}-wal-spoiled`))
  })

  test("is not moved by a process that opens the file beside it, which is refused", function* (disk) {
    const { file } = disk
    const before = readFileSync(file)
    yield* poison(disk)
    const refused = yield* Effect.flip(Effect.scoped(openStorage(file)))
    assert.strictEqual(refused.reason, "damaged")
    assert.include(refused.message, "stop every program")
    assert.deepStrictEqual(readFileSync(file), before)
  })

  it.effect.each(["exit", "natural"])(
    "is not moved by a process that ends without closing the file: %s",
    (way) =>
      Effect.gen(function* () {
        const file = yield* scratchFile
        yield* Effect.scoped(openStorage(file))
        const before = readFileSync(file)
        const { stdout, status } = spawnSync(process.execPath, [END_SPOILED, file, way], { encoding: "utf8" })
        assert.include(stdout, REFUSAL)
        assert.strictEqual(status, 0)
        assert.isTrue(readFileSync(file).equals(before))
        assert.deepStrictEqual(
          yield* agentIds(yield* openStorage(file)),
          Array.from({ length: 20 }, (_, n) => `kept-${n}`).toSorted(),
        )
      }),
  )

  test("is not opened again where it has lost what was acknowledged, unless the operator accepts that", function* (disk) {
    const { file, storage, failSync } = disk
    yield* failSync(() => spoil(`${file}-wal`, 9))
    yield* refusalThat(storage, REFUSAL)
    yield* disk.close
    for (let starts = 0; starts < 2; starts++) {
      const refused = yield* Effect.flip(Effect.scoped(openStorage(file)))
      assert.strictEqual(refused.reason, "damaged")
      assert.include(refused.message, "acknowledged")
    }
    const inspected = yield* Effect.flip(inspectStorage(file))
    assert.include(inspected.message, "acknowledged")
    rmSync(`${file}-wal-spoiled`)
    const left = yield* agentIds(yield* openStorage(file))
    assert.isBelow(left.length, ACKNOWLEDGED.length)
    assert.deepStrictEqual(left, ACKNOWLEDGED.slice(0, left.length))
  })
})
