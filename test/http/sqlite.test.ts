import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import * as SqliteStorage from "@tocsin/adapter-sqlite/SqliteStorage"
import { Effect, Layer } from "effect"
import { ScratchFolder } from "../storage/ScratchFolder.ts"
import { storageHttpSuite } from "./storageHttpSuite.ts"

/** All bytes of the folder: the database, its log and any other file. */
const dump = Effect.map(ScratchFolder, ({ path }) =>
  readdirSync(path)
    .map((name) => readFileSync(join(path, name), "latin1"))
    .join("\n"),
)

storageHttpSuite(
  {
    name: "SQLite",
    place: ScratchFolder.layer,
    client: Layer.unwrap(
      Effect.map(ScratchFolder, ({ path }) => SqliteStorage.layer({ file: join(path, "tocsin.db") })),
    ),
  },
  dump,
)
