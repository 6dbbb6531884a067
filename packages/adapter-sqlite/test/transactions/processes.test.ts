import { type ChildProcess, spawn } from "node:child_process"
import { chmodSync, chownSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { migrations } from "../../src/migrations/migrate.ts"
import { agentIds, openStorage, putAgent, scratchFile } from "../ScratchFile.ts"
import { bundledWriter } from "./bundledWriter.ts"
import { transact } from "@tocsin/testing/transact"

const WRITER = bundledWriter()
// Far more than it writes before it is killed.
const NEVER_ENDING = 100_000
const NOBODY = 65_534

interface Writer {
  readonly child: ChildProcess
  /** Complete lines that it printed so far. */
  readonly lines: ReadonlyArray<string>
  /** Resolves with its exit code, `null` when it was killed. */
  readonly ended: Effect.Effect<number | null>
}

interface WriterOptions {
  readonly prefix: string
  readonly count: number
  readonly uid?: number
  /** Called with the number of lines, whenever there are more. */
  readonly onLines?: (count: number, child: ChildProcess) => void
}

/** Starts a process that writes into a file. It is killed with the scope, if it still runs. */
const startWriter = (file: string, { prefix, count, uid, onLines }: WriterOptions) =>
  Effect.acquireRelease(
    Effect.sync((): Writer => {
      const child = spawn(process.execPath, [WRITER, file, prefix, String(count)], {
        stdio: ["ignore", "pipe", "inherit"],
        ...(uid !== undefined && { uid, gid: uid }),
      })
      const lines: Array<string> = []
      let rest = ""
      child.stdout?.on("data", (chunk: Buffer) => {
        const parts = `${rest}${chunk}`.split("\n")
        rest = parts.pop() ?? ""
        lines.push(...parts)
        onLines?.(lines.length, child)
      })
      const ended = new Promise<number | null>((resolve) => child.on("close", resolve))
      return { child, lines, ended: Effect.promise(() => ended) }
    }),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL")),
  )

const isOpenToAll = (path: string): boolean =>
  (statSync(path).mode & 0o001) !== 0 && (path === dirname(path) || isOpenToAll(dirname(path)))

const ROUNDS = 3
const LINES_BEFORE_KILL = 300

describe("processes", () => {
  it.live("every answered write survives a process that is killed while it writes", () =>
    Effect.gen(function* () {
      const file = yield* scratchFile
      const acknowledged: Array<string> = []
      for (let round = 0; round < ROUNDS; round++) {
        const writer = yield* startWriter(file, {
          prefix: `round-${round}-`,
          count: NEVER_ENDING,
          onLines: (count, child) => count >= LINES_BEFORE_KILL && child.kill("SIGKILL"),
        })
        assert.isNull(yield* writer.ended)
        acknowledged.push(...writer.lines)
      }
      assert.isAtLeast(acknowledged.length, ROUNDS * LINES_BEFORE_KILL)
      const kept = new Set(yield* agentIds(yield* openStorage(file)))
      assert.deepStrictEqual(
        acknowledged.filter((name) => !kept.has(name)),
        [],
      )
    }),
  )

  it.live(
    "that start at the same moment on a new file make one database, and write into it side by side",
    () =>
      Effect.gen(function* () {
        const file = yield* scratchFile
        const [processes, count] = [4, 500]
        const writers = yield* Effect.forEach(
          Array.from({ length: processes }, (_, n) => `process-${n}-`),
          (prefix) => startWriter(file, { prefix, count }),
        )
        const codes = yield* Effect.forEach(writers, (writer) => writer.ended)
        assert.deepStrictEqual(
          codes,
          Array.from({ length: processes }, () => 0),
        )
        const written = writers.flatMap((writer) => writer.lines)
        const expected = Array.from({ length: processes }, (_, n) =>
          Array.from({ length: count }, (__, index) => `process-${n}-${index}`),
        )
        assert.deepStrictEqual(written.toSorted(), expected.flat().toSorted())
        assert.deepStrictEqual(yield* agentIds(yield* openStorage(file)), written.toSorted())
        const database = new DatabaseSync(file, { readOnly: true })
        const { applied } = database.prepare("SELECT count(*) AS applied FROM schema_migration").get() ?? {}
        const { integrity_check } = database.prepare("PRAGMA integrity_check").get() ?? {}
        database.close()
        assert.deepStrictEqual([applied, integrity_check], [migrations.length, "ok"])
      }),
  )

  // Root may write everywhere, so there the process runs as another user, who may not reach every Node.js of root's.
  const uid = process.getuid?.() === 0 ? NOBODY : undefined
  const cannotProvoke = uid !== undefined && ![dirname(process.execPath), tmpdir()].every(isOpenToAll)
  const why = cannotProvoke ? " (skipped: root may, and no other user reaches this Node.js)" : ""

  it.live.skipIf(cannotProvoke)(
    `that may not write the folder or the file are told so, and leave both alone${why}`,
    () =>
      Effect.gen(function* () {
        const file = yield* scratchFile
        const folder = dirname(file)
        yield* Effect.scoped(Effect.flatMap(openStorage(file), (storage) => transact(storage, putAgent("a"))))
        const run = Effect.fnUntraced(function* () {
          const writer = yield* startWriter(file, {
            prefix: "b",
            count: 1,
            ...(uid !== undefined && { uid }),
          })
          yield* writer.ended
          return writer.lines
        })
        chmodSync(file, 0o444)
        chmodSync(folder, 0o777)
        assert.deepStrictEqual(yield* run(), [
          `read_only: ${file} is not writable: give Tocsin's user write access`,
        ])
        chmodSync(file, 0o666)
        chmodSync(folder, 0o555)
        assert.deepStrictEqual(yield* run(), [
          `read_only: ${folder} is not writable: give Tocsin's user write access`,
        ])
        assert.deepStrictEqual(readdirSync(folder), ["tocsin.db"])
        chmodSync(folder, 0o755)
        rmSync(file)
        if (uid !== undefined) chownSync(folder, uid, uid)
        assert.deepStrictEqual(yield* run(), ["b0"])
      }),
  )
})
