import { join } from "node:path"
import * as SqliteStorage from "@tocsin/adapter-sqlite/SqliteStorage"
import { describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ScratchFolder } from "../storage/ScratchFolder.ts"
import { endpointSuite } from "./endpointSuite.ts"
import { walkSuite } from "./walkSuite.ts"

const subject = {
  name: "SQLite",
  place: ScratchFolder.layer,
  client: Layer.unwrap(
    Effect.map(ScratchFolder, ({ path }) => SqliteStorage.layer({ file: join(path, "tocsin.db") })),
  ),
}

describe("HTTP contract: SQLite", () => {
  describe("endpoints", () => endpointSuite(subject))
  describe("walk", () => walkSuite(subject))
})
