import { join } from "node:path"
import * as SqliteStorage from "@tocsin/adapter-sqlite/SqliteStorage"
import { describe } from "@effect/vitest"
import { ingestRaceSuite } from "@tocsin/testing/ingestRaceSuite"
import { incidentRowRequestSuite } from "@tocsin/testing/incidentRowRequestSuite"
import { modelSuite } from "@tocsin/testing/model/modelSuite"
import { rollbackSuite } from "@tocsin/testing/rollbackSuite"
import { rowRequestSuite } from "@tocsin/testing/rowRequestSuite"
import { Effect, Layer } from "effect"
import { ScratchFolder } from "./ScratchFolder.ts"

const subject = {
  name: "SQLite without cached rows",
  noHints: "one server has its file to itself",
  place: ScratchFolder.layer,
  client: Layer.unwrap(
    Effect.map(ScratchFolder, ({ path }) =>
      SqliteStorage.layer({ file: join(path, "tocsin.db"), cacheBytes: 0 }),
    ),
  ),
}

/** The suites in which a cached row could replace a stored one. The others use the same code. */
describe(`storage: ${subject.name}`, () => {
  rowRequestSuite(subject)
  incidentRowRequestSuite(subject)
  rollbackSuite(subject)
  ingestRaceSuite(subject)
  modelSuite(subject, 25)
})
