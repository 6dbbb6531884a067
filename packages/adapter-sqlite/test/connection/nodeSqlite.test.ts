import { existsSync } from "node:fs"
import { dirname } from "node:path"
import process from "node:process"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { backUp } from "../../src/backup/backUp.ts"
import { hasNodeSqlite } from "../../src/connection/nodeSqlite.ts"
import { withCopySource, withCopyTarget } from "../../src/copy/CopyConnection.ts"
import { inspectStorage } from "../../src/inspection/inspectStorage.ts"
import { openStorage, scratchFile } from "../ScratchFile.ts"

/** Has this Node.js report another version of SQLite until the scope ends. */
const onSqlite = (version: string | undefined) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = process.versions["sqlite"]
      Object.defineProperty(process.versions, "sqlite", { value: version })
      return before
    }),
    (before) => Effect.sync(() => Object.defineProperty(process.versions, "sqlite", { value: before })),
  )

const unused = Effect.void

/** Every way of opening a database. */
const openings = [
  ["a start", (file: string) => openStorage(file)],
  ["an inspection", (file: string) => inspectStorage(file)],
  [
    "a backup",
    (file: string) =>
      backUp({ source: file, target: `${file}.copy`, onProgress: () => {}, beforeCheck: unused }),
  ],
  ["a copy from it", (file: string) => withCopySource(file, () => unused)],
  ["a copy to it", (file: string) => withCopyTarget(file, () => unused)],
] as const

describe("an older SQLite", () => {
  it.effect.each([
    ["3.53.4", true],
    ["3.51.3", true],
    ["3.100.0", true],
    ["4.0.0", true],
    ["3.51.2", false],
    ["3.50.4", false],
    ["3.6.23", false],
    [undefined, false],
  ] as const)("%s: %s", ([version, isEnough]) =>
    Effect.andThen(
      onSqlite(version),
      Effect.sync(() => assert.strictEqual(hasNodeSqlite(), isEnough)),
    ),
  )

  it.effect.each(openings)("is refused by %s, which names the Node.js to install", ([, open]) =>
    Effect.gen(function* () {
      const file = yield* scratchFile
      yield* onSqlite("3.50.4")
      const refused = yield* Effect.flip(Effect.scoped(open(file)))
      assert.strictEqual(refused.reason, "unavailable")
      assert.strictEqual(
        refused.message,
        `Tocsin needs SQLite 3.51.3 or newer, and Node.js ${process.version} has 3.50.4: install the latest Node.js 24 (24.22.1 or newer)`,
      )
      assert.isTrue(existsSync(dirname(file)))
      assert.isFalse(existsSync(file))
    }),
  )
})
