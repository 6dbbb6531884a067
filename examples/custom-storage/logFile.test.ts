// The proof that the storage keeps its promises: the suite that SQLite and PostgreSQL pass too.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { storageSuite, storageUnderTest } from "tocsin/testing/storage"
import { logFile } from "./logFile.ts"

storageSuite(
  storageUnderTest({
    name: "log file",
    make: () => mkdtemp(join(tmpdir(), "tocsin-log-")),
    remove: (folder) => rm(folder, { recursive: true }),
    storage: (folder) => logFile(join(folder, "monitoring.log")),
  }),
)
