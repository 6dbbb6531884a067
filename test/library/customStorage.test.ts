import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { logFile } from "@tocsin/examples/custom-storage/logFile"
import { storageUnderTest } from "tocsin/testing"
import { storageSuite } from "../storage/storageSuite.ts"

storageSuite(
  storageUnderTest({
    name: "a log file, as in examples/custom-storage",
    make: () => mkdtemp(join(tmpdir(), "tocsin-log-")),
    remove: (folder) => rm(folder, { recursive: true }),
    storage: (folder) => logFile(join(folder, "monitoring.log")),
  }),
)
