import { Context, Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { storageSuite } from "../../../test/storage/storageSuite.ts"
import * as SqliteStorage from "../src/SqliteStorage.ts"

class Folder extends Context.Service<Folder, string>()("folder") {}
storageSuite({
  name: "sqlite",
  place: Layer.effect(Folder, Effect.acquireRelease(Effect.sync(() => mkdtempSync(join(tmpdir(), "sq-"))), (f) => Effect.sync(() => rmSync(f, { recursive: true })))),
  client: Layer.unwrap(Effect.map(Folder, (folder) => SqliteStorage.layer({ file: join(folder, "t.db") }))),
})
