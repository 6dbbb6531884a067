import { join } from "node:path"
import * as SqliteStorage from "@tocsin/adapter-sqlite/SqliteStorage"
import { Effect, Layer } from "effect"
import { ScratchFolder } from "./ScratchFolder.ts"
import { storageSuite } from "@tocsin/testing/storageSuite"

storageSuite({
  name: "SQLite without remembered rows",
  noHints: "one server has its file to itself",
  place: ScratchFolder.layer,
  client: Layer.unwrap(
    Effect.map(ScratchFolder, ({ path }) =>
      SqliteStorage.layer({ file: join(path, "tocsin.db"), cacheBytes: 0 }),
    ),
  ),
})
