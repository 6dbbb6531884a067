import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as SqliteStorage from "@tocsin/adapter-sqlite/SqliteStorage"
import { describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { ScratchFolder } from "../storage/ScratchFolder.ts"
import { concurrencySuite } from "./concurrencySuite.ts"
import { endpointSuite } from "./endpointSuite.ts"
import { interruptionSuite } from "./interruptionSuite.ts"
import { secretSuite } from "./secretSuite.ts"
import { walkSuite } from "./walkSuite.ts"

const subject = {
  name: "SQLite",
  place: ScratchFolder.layer,
  client: Layer.unwrap(
    Effect.map(ScratchFolder, ({ path }) => SqliteStorage.layer({ file: join(path, "tocsin.db") })),
  ),
}

/** All bytes of the folder: the database, its log, and whatever else lies there. */
const dump = Effect.map(ScratchFolder, ({ path }) =>
  readdirSync(path)
    .map((name) => readFileSync(join(path, name), "latin1"))
    .join("\n"),
)

describe("HTTP contract: SQLite", () => {
  describe("endpoints", () => endpointSuite(subject))
  describe("walk", () => walkSuite(subject))
  describe("secrets", () => secretSuite(subject, dump))
  describe("interruptions", () => interruptionSuite(subject))
  describe("many clients", () => concurrencySuite(subject, 12))
})
