import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import process from "node:process"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, type Scope } from "effect"
import { SALTS_AT, SALTS_BYTES } from "../../src/log/LogFile.ts"
import { agentIds, names, openStorage, putAgent, scratchFile } from "../ScratchFile.ts"
import { pagesInUse, spoil } from "./logInspection.ts"
import { transact } from "@tocsin/testing/transact"

const ACKNOWLEDGED = names(20)

/** A file as a crash left it after a failed sync: all that was acknowledged is in its noted log. */
const crashedFile = Effect.gen(function* () {
  const file = yield* scratchFile
  const crashed = yield* scratchFile
  const storage = yield* openStorage(file)
  yield* Effect.forEach(ACKNOWLEDGED, (name) => transact(storage, putAgent(name)))
  copyFileSync(file, crashed)
  copyFileSync(`${file}-wal`, `${crashed}-wal`)
  const log = readFileSync(`${file}-wal`)
  const salts = log.subarray(SALTS_AT, SALTS_AT + SALTS_BYTES).toString("hex")
  writeFileSync(`${crashed}-wal-spoiled`, `${salts} ${pagesInUse(file)}\n`)
  return crashed
})

/** The functions by which a log is written again. */
const disk = process.getBuiltinModule("node:fs")

type Fault = Effect.Effect<unknown, never, Scope.Scope>

/** Replaces such a function until the scope ends. */
const replace = <Name extends "fsyncSync" | "openSync">(name: Name, by: (typeof disk)[Name]) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const original = disk[name]
      disk[name] = by
      return original
    }),
    (original) => Effect.sync(() => void (disk[name] = original)),
  )

const failSyncs = (): Fault =>
  replace("fsyncSync", () => {
    throw Object.assign(new Error("EIO: i/o error, fsync"), { code: "EIO", errno: -5, syscall: "fsync" })
  })

const losePageAfterFirstLook = (file: string): Fault => {
  const { openSync } = disk
  return replace("openSync", (path, flags, mode) => {
    if (path === `${file}-wal` && flags === "r+") spoil(path, pagesInUse(file) - 1)
    return openSync(path, flags, mode)
  })
}

describe("a noted log that a start cannot make durable", () => {
  it.effect.each([
    { doubt: "its sync fails again", reason: "unavailable", cause: failSyncs },
    { doubt: "a page does not read back the second time", reason: "damaged", cause: losePageAfterFirstLook },
  ])("is not moved into the file: $doubt", ({ cause, reason }) =>
    Effect.gen(function* () {
      const file = yield* crashedFile
      const before = readFileSync(file)
      const { length } = readFileSync(`${file}-wal`)
      const refused = yield* Effect.flip(Effect.scoped(Effect.andThen(cause(file), openStorage(file))))
      assert.strictEqual(refused.reason, reason)
      assert.isTrue(readFileSync(file).equals(before))
      assert.strictEqual(readFileSync(`${file}-wal`).length, length)
      assert.isTrue(existsSync(`${file}-wal-spoiled`))
    }),
  )

  it.effect("is complete at the next start, when the disk works again", () =>
    Effect.gen(function* () {
      const file = yield* crashedFile
      yield* Effect.flip(Effect.scoped(Effect.andThen(failSyncs(), openStorage(file))))
      assert.deepStrictEqual(yield* agentIds(yield* openStorage(file)), ACKNOWLEDGED)
      assert.isFalse(existsSync(`${file}-wal-spoiled`))
    }),
  )
})

describe("a noted log that is gone at the start, after another program has moved or removed it", () => {
  it.effect.each([
    { acknowledged: "some changes", note: `${"1".repeat(16)} 20\n`, lines: 1 },
    { acknowledged: "none", note: `${"0".repeat(16)} 0\n`, lines: 0 },
  ])("is reported once if it held acknowledged changes: $acknowledged", ({ lines, note }) =>
    Effect.gen(function* () {
      const file = yield* scratchFile
      yield* Effect.scoped(openStorage(file))
      writeFileSync(`${file}-wal-spoiled`, note)
      const said: Array<string> = []
      const logger = Logger.make<unknown, void>(({ message }) => void said.push(String(message)))
      const start = Effect.provide(Effect.scoped(openStorage(file)), Logger.layer([logger]))
      yield* start
      assert.lengthOf(said, lines)
      for (const line of said) assert.include(line, "changes may be missing")
      yield* start
      assert.lengthOf(said, lines)
    }),
  )
})
