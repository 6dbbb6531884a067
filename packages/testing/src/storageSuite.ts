import { beforeAll, describe } from "@effect/vitest"
import { actSuite } from "./actSuite.ts"
import { admissionRaceSuite } from "./admissionRaceSuite.ts"
import { announcementSuite } from "./announcementSuite.ts"
import { auditScenarioSuite } from "./model/auditScenarioSuite.ts"
import { auditSuite } from "./auditSuite.ts"
import { changeStampSuite } from "./changeStampSuite.ts"
import { checkRemovalSuite } from "./checkRemovalSuite.ts"
import { checkLabelSuite } from "./checkLabelSuite.ts"
import { alertClaimSuite } from "./alertClaimSuite.ts"
import { claimSuite } from "./claimSuite.ts"
import { clockSuite } from "./clockSuite.ts"
import { committedSuite } from "./committedSuite.ts"
import { departureRaceSuite } from "./departureRaceSuite.ts"
import { heldSuite } from "./heldSuite.ts"
import { historyRetentionSuite } from "./historyRetentionSuite.ts"
import { dueOrderSuite } from "./dueOrderSuite.ts"
import { dueRowSuite } from "./dueRowSuite.ts"
import { expirySuite } from "./model/expirySuite.ts"
import { incidentRowRequestSuite } from "./incidentRowRequestSuite.ts"
import { ingestRaceSuite } from "./ingestRaceSuite.ts"
import { largeIncidentSuite } from "./largeIncidentSuite.ts"
import { interruptedSuite } from "./interruptedSuite.ts"
import { lastResultSuite } from "./lastResultSuite.ts"
import { listSuite } from "./lists/listSuite.ts"
import { livenessSuite } from "./livenessSuite.ts"
import { modelSuite } from "./model/modelSuite.ts"
import { pagingSuite } from "./lists/pagingSuite.ts"
import { enrolmentRaceSuite } from "./enrolmentRaceSuite.ts"
import { idempotencySuite } from "./idempotencySuite.ts"
import { exportSuite } from "./exportSuite.ts"
import { numberSeriesSuite } from "./numberSeriesSuite.ts"
import { numbersSuite } from "./numbersSuite.ts"
import { operatorSuite } from "./operatorSuite.ts"
import { outboxSuite } from "./outboxSuite.ts"
import { overrideSuite } from "./overrideSuite.ts"
import { parentSuite } from "./parentSuite.ts"
import { floodSuite } from "./floodSuite.ts"
import { phoneSuite } from "./phoneSuite.ts"
import { portSuite } from "./portSuite.ts"
import { purgeSuite } from "./purgeSuite.ts"
import { reopenSuite } from "./model/reopenSuite.ts"
import { policySuite } from "./policySuite.ts"
import { replicaSuite } from "./replicaSuite.ts"
import { retentionSuite } from "./retentionSuite.ts"
import { rollbackSuite } from "./rollbackSuite.ts"
import { agentRowSuite } from "./rows/agentRowSuite.ts"
import { incidentRowSuite } from "./rows/incidentRowSuite.ts"
import { tableSuite } from "./rows/tableSuite.ts"
import { sessionRaceSuite } from "./sessionSuite.ts"
import { monthlyReportRaceSuite, monthlyReportSuite } from "./monthlyReportSuite.ts"
import { subscriptionRaceSuite } from "./subscriptionSuite.ts"
import { secretRaceSuite } from "./secretSuite.ts"
import { rowRequestSuite } from "./rowRequestSuite.ts"
import { skippedFor, type StorageUnderTest } from "./StorageUnderTest.ts"
import { scenarioSuite } from "./scenarioSuite.ts"
import { textSuite } from "./textSuite.ts"
import { twiceSuite } from "./twiceSuite.ts"
import { silenceSuite } from "./silenceSuite.ts"
import { timerSuite } from "./timerSuite.ts"

/** Nothing takes a tenth of it, unless it hangs. */
const TIMEOUT_MILLIS = 120_000

/**
 * The contract of the port `Storage`, which every storage passes. To test another storage, describe
 * it in a test file:
 *
 * ```ts
 * storageSuite({
 *   name: "SQLite",
 *   // A new, empty place each time it is built, removed with its scope.
 *   place: ScratchFolder.layer,
 *   // A client of the storage there. Tests of two replicas build it twice at one place.
 *   client: Layer.unwrap(
 *     Effect.map(ScratchFolder, ({ path }) =>
 *       SqliteStorage.layer({ file: join(path, "tocsin.db") }),
 *     ),
 *   ),
 * })
 * ```
 *
 * A storage that allows one client at a time gives the reason in `onlyOneClient`: tests of two
 * clients are skipped and print it. One whose rows end with their client gives it in `keepsNothing`. Most tests run on TestClock; concurrent ones run on the live
 * clock, so that a storage may pause between attempts. No test fails for being slow, only at its
 * timeout.
 *
 * Random tests print a seed, a path and the smallest counterexample when they fail. `PROPERTY_SEED`
 * and `PROPERTY_PATH` in the environment repeat that run, and `PROPERTY_RUNS=20` runs each property
 * twenty times as often. The largest, `modelSuite`, plays random scenarios on the storage and on the
 * memory storage, and compares every reply and all rows.
 */
export const storageSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe(`storage: ${subject.name}`, { timeout: TIMEOUT_MILLIS }, () => {
    beforeAll(() => subject.tryFirst?.(), TIMEOUT_MILLIS)
    portSuite(subject)
    committedSuite(subject)
    interruptedSuite(subject)
    rowRequestSuite(subject)
    incidentRowRequestSuite(subject)
    agentRowSuite(subject)
    incidentRowSuite(subject)
    tableSuite(subject)
    textSuite(subject)
    listSuite(subject)
    pagingSuite(subject)
    claimSuite(subject)
    dueOrderSuite(subject)
    dueRowSuite(subject)
    heldSuite(subject)
    timerSuite(subject)
    parentSuite(subject)
    silenceSuite(subject)
    overrideSuite(subject)
    operatorSuite(subject)
    policySuite(subject)
    twiceSuite(subject)
    clockSuite(subject)
    checkRemovalSuite(subject)
    outboxSuite(subject)
    lastResultSuite(subject)
    idempotencySuite(subject)
    replicaSuite(subject)
    auditSuite(subject)
    checkLabelSuite(subject)
    purgeSuite(subject)
    historyRetentionSuite(subject)
    retentionSuite(subject)
    if (subject.noNumbers === undefined) {
      numbersSuite(subject)
      exportSuite(subject)
      numberSeriesSuite(subject)
    }
    rollbackSuite(subject)
    ingestRaceSuite(subject)
    admissionRaceSuite(subject)
    largeIncidentSuite(subject)
    modelSuite(subject)
    expirySuite(subject)
    reopenSuite(subject)
    alertClaimSuite(subject)
    phoneSuite(subject)
    floodSuite(subject)
    changeStampSuite(subject)
    sessionRaceSuite(subject)
    subscriptionRaceSuite(subject)
    monthlyReportRaceSuite(subject)
    livenessSuite(subject)
    enrolmentRaceSuite(subject)
    departureRaceSuite(subject)
    describe.skipIf(subject.sampled !== undefined)(`decisions${skippedFor(subject.sampled)}`, () => {
      announcementSuite(subject)
      actSuite(subject)
      monthlyReportSuite(subject)
      secretRaceSuite(subject)
      auditScenarioSuite(subject)
      scenarioSuite(subject)
    })
  })
}
