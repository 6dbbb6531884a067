import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { describe } from "@effect/vitest"
import { Layer } from "effect"
import { EmptiedPostgres } from "../../storage/EmptiedPostgres.ts"
import { migratedFolder, storageInFolder } from "../../storage/migratedFolder.ts"
import { pushSuite } from "./pushSuite.ts"

describe("browsers on memory", () => {
  pushSuite({ name: "memory", place: Layer.empty, client: MemoryStorage.layer })
})

describe("browsers on SQLite", () => {
  pushSuite({ name: "SQLite", place: migratedFolder, client: storageInFolder() })
})

describe("browsers on PostgreSQL", () => {
  pushSuite({
    name: "PostgreSQL",
    place: EmptiedPostgres.layerOfFile(),
    client: EmptiedPostgres.client,
  })
})
