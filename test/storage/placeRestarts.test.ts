import { placeStories } from "@tocsin/testing/placeStories"
import { migratedFolder, storageInFolder } from "./migratedFolder.ts"

// The memory has the rows of one client: a restart is another one.
placeStories({ name: "SQLite", place: migratedFolder, client: storageInFolder() }, { runs: 200 })
