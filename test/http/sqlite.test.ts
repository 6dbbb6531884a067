import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect } from "effect"
import { migratedFolder, storageInFolder } from "../storage/migratedFolder.ts"
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
    place: migratedFolder,
    client: storageInFolder(),
  },
  dump,
)
