import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { it } from "@effect/vitest"
import { releases } from "@tocsin/test/release/releases"
import { transact } from "@tocsin/testing/transact"
import { Effect } from "effect"
import { agentIds, names, openStorage, putAgent } from "./ScratchFile.ts"

it("a storage releases its files, its thread and its timers, also after checkpoints", () =>
  releases(async () => {
    const folder = mkdtempSync(join(tmpdir(), "tocsin-sqlite-"))
    const file = join(folder, "tocsin.db")
    const writing = (writes: number) =>
      Effect.gen(function* () {
        const storage = yield* openStorage(file, { log: { checkpointPages: 20 } })
        yield* Effect.forEach(names(writes), (name) => transact(storage, putAgent(name)), { concurrency: 8 })
        yield* agentIds(storage)
      }).pipe(Effect.scoped, Effect.runPromise)
    const uses = {
      "writes that need no checkpoint": () => writing(1),
      "writes behind which a checkpoint may run": () => writing(60),
    }
    return {
      open: async () => ({ uses, close: async () => {} }),
      end: async () => rmSync(folder, { recursive: true }),
    }
  }))
