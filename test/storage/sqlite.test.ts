import { migratedFolder, storageInFolder } from "./migratedFolder.ts"
import { storageSuite } from "@tocsin/testing/storageSuite"

storageSuite({
  name: "SQLite",
  noHints: "one server has its file to itself",
  place: migratedFolder,
  client: storageInFolder(),
})
