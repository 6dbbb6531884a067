import { describe } from "@effect/vitest"
import { admissionRaceSuite } from "./admissionRaceSuite.ts"
import { deliverySuite } from "./deliverySuite.ts"
import { ingestRaceSuite } from "./ingestRaceSuite.ts"
import { largeIncidentSuite } from "./largeIncidentSuite.ts"
import { listSuite } from "./listSuite.ts"
import { livenessSuite } from "./livenessSuite.ts"
import { modelSuite } from "./modelSuite.ts"
import { pagingSuite } from "./pagingSuite.ts"
import { portSuite } from "./portSuite.ts"
import { retentionSuite } from "./retentionSuite.ts"
import { rollbackSuite } from "./rollbackSuite.ts"
import { roundTripSuite } from "./roundTripSuite.ts"
import { scopeSuite } from "./scopeSuite.ts"
import { textSuite } from "./textSuite.ts"
import type { StorageUnderTest } from "./StorageUnderTest.ts"

export const storageSuite = <Place, E>(subject: StorageUnderTest<Place, E>): void => {
  describe(`storage: ${subject.name}`, () => {
    portSuite(subject)
    scopeSuite(subject)
    roundTripSuite(subject)
    textSuite(subject)
    listSuite(subject)
    pagingSuite(subject)
    deliverySuite(subject)
    livenessSuite(subject)
    retentionSuite(subject)
    rollbackSuite(subject)
    ingestRaceSuite(subject)
    admissionRaceSuite(subject)
    largeIncidentSuite(subject)
    modelSuite(subject)
  })
}
