import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import * as PgStorage from "@tocsin/adapter-pg/PgStorage"
import { describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
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
    client: Layer.unwrap(Effect.map(EmptiedPostgres, ({ url }) => PgStorage.layer({ url }))),
  })
})
