import { describe } from "@effect/vitest"
import { ingestRaceSuite } from "@tocsin/testing/ingestRaceSuite"
import { incidentRowRequestSuite } from "@tocsin/testing/incidentRowRequestSuite"
import { modelSuite } from "@tocsin/testing/model/modelSuite"
import { rollbackSuite } from "@tocsin/testing/rollbackSuite"
import { rowRequestSuite } from "@tocsin/testing/rowRequestSuite"
import { migratedFolder, storageInFolder } from "./migratedFolder.ts"

const subject = {
  name: "SQLite without cached rows",
  noHints: "one server has its file to itself",
  place: migratedFolder,
  client: storageInFolder({ cacheBytes: 0 }),
}

/** The suites in which a cached row could replace a stored one. The others use the same code. */
describe(`storage: ${subject.name}`, () => {
  rowRequestSuite(subject)
  incidentRowRequestSuite(subject)
  rollbackSuite(subject)
  ingestRaceSuite(subject)
  modelSuite(subject, 25)
})
