import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { ensureDataDirectory } from "@tocsin/server/storage"
import { Effect } from "effect"

const scratchFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "tocsin-data-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true })),
)

const modeOf = (path: string): number => statSync(path).mode & 0o777

describe("the data folder", () => {
  it.live("is created for its owner alone, and an existing one stays as it is", () =>
    Effect.gen(function* () {
      const folder = join(yield* scratchFolder, "data")
      yield* ensureDataDirectory(folder)
      assert.strictEqual(modeOf(folder), 0o700)
      const own = join(yield* scratchFolder, "own")
      mkdirSync(own, { mode: 0o750 })
      yield* ensureDataDirectory(own)
      assert.strictEqual(modeOf(own), 0o750)
    }).pipe(Effect.provide(NodeServices.layer)),
  )
})
