// The proof that the storage keeps its promises: the suite that SQLite and PostgreSQL pass too, and that of its kind.
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { keyValueSuite } from "tocsin/testing"
import { storageSuite, storageUnderTest } from "tocsin/testing/storage"
import { describe, it } from "vitest"
import { logFile } from "./logFile.ts"

const place = async () => join(await mkdtemp(join(tmpdir(), "tocsin-log-")), "monitoring.log")
const remove = (path: string) => rm(dirname(path), { recursive: true })

storageSuite(storageUnderTest({ name: "log file", make: place, remove, storage: logFile }))

const module = new URL("logFile.ts", import.meta.url).href
keyValueSuite({ describe, it }, { module, export: "logFile", place, remove })
