import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { describe } from "@effect/vitest"
import { Layer } from "effect"
import { migratedFolder, storageInFolder } from "../../storage/migratedFolder.ts"
import { exportSuite } from "./exportSuite.ts"

describe("exports on memory", () => {
  exportSuite({ name: "memory", place: Layer.empty, client: MemoryStorage.layer })
})

describe("exports on SQLite", () => {
  exportSuite({ name: "SQLite", place: migratedFolder, client: storageInFolder() })
})
