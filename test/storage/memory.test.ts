import * as MemoryStorage from "@tocsin/adapter-memory/MemoryStorage"
import { describe } from "@effect/vitest"
import { Layer } from "effect"
import { enrolmentSuite } from "@tocsin/testing/enrolmentSuite"
import { integrationSuite } from "@tocsin/testing/integrationSuite"
import { mailSuite } from "@tocsin/testing/mailSuite"
import { placeSuite } from "@tocsin/testing/placeSuite"
import { overdueSuite } from "@tocsin/testing/overdueSuite"
import { pagedAlertSuite } from "@tocsin/testing/pagedAlertSuite"
import { reportedAlertSuite } from "@tocsin/testing/reportedAlertSuite"
import { secretSuite } from "@tocsin/testing/secretSuite"
import { otherVersionSuite } from "@tocsin/testing/otherVersionSuite"
import { integrationKindSuite } from "@tocsin/testing/integrationKindSuite"
import { sessionSuite } from "@tocsin/testing/sessionSuite"
import { subscriptionSuite } from "@tocsin/testing/subscriptionSuite"
import { storageSuite } from "@tocsin/testing/storageSuite"
import { watchSuite } from "@tocsin/testing/watchSuite"

const subject = {
  name: "memory",
  place: Layer.empty,
  client: MemoryStorage.layer,
  onlyOneClient: "its rows are in the memory of one client",
  keepsNothing: "its rows are in the memory of one client",
}

storageSuite(subject)

/** The core decides alike on each storage: `storageSuite` has what these decisions read and write. */
describe("decisions about reports of senders", () => {
  reportedAlertSuite(subject)
  integrationKindSuite(subject)
  otherVersionSuite(subject)
  pagedAlertSuite(subject)
  mailSuite(subject)
  overdueSuite(subject)
  integrationSuite(subject)
  watchSuite(subject)
  placeSuite(subject, { runs: 1_000 })
})

/** As above: races of these are part of `storageSuite`. */
describe("decisions about people, hosts and receivers", () => {
  enrolmentSuite(subject)
  sessionSuite(subject)
  subscriptionSuite(subject)
  secretSuite(subject)
})
