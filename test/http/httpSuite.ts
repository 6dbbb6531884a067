import { describe } from "@effect/vitest"
import type { StorageUnderTest } from "@tocsin/testing/StorageUnderTest"
import { AT_LENGTH } from "../properties/atLength.ts"
import { backPressureSuite } from "./connections/backPressureSuite.ts"
import { concurrencySuite } from "./connections/concurrencySuite.ts"
import { hostileConnectionSuite } from "./connections/hostileConnectionSuite.ts"
import { interruptionSuite } from "./connections/interruptionSuite.ts"
import { slowClientSuite } from "./connections/slowClientSuite.ts"
import { endpointErrorSuite } from "./contract/endpointErrorSuite.ts"
import { endpointSuite } from "./contract/endpointSuite.ts"
import { readinessSuite } from "./failures/readinessSuite.ts"
import { senderFailureSuite } from "./failures/senderFailureSuite.ts"
import { storageFailureSuite } from "./failures/storageFailureSuite.ts"
import { cursorSuite } from "./lists/cursorSuite.ts"
import type { HttpSubject } from "./onStorage.ts"
import { filterSuite } from "./lists/filterSuite.ts"
import { forgedCursorSuite } from "./lists/forgedCursorSuite.ts"
import { pagingSuite } from "./lists/pagingSuite.ts"
import { authenticationSuite } from "./requests/authenticationSuite.ts"
import { bodySizeSuite } from "./requests/bodySizeSuite.ts"
import { eventFieldSuite } from "./requests/eventFieldSuite.ts"
import { headerSuite } from "./requests/headerSuite.ts"
import { heartbeatFieldSuite } from "./requests/heartbeatFieldSuite.ts"
import { hostileBodySuite } from "./requests/hostileBodySuite.ts"
import { idempotencySuite } from "./requests/idempotencySuite.ts"
import { enrolmentSuite } from "./requests/enrolmentSuite.ts"
import { integrationSuite } from "./requests/integrationSuite.ts"
import { nagiosSuite } from "./requests/nagiosSuite.ts"
import { watchSuite } from "./requests/watchSuite.ts"
import { operatorSuite } from "./requests/operatorSuite.ts"
import { orderSuite } from "./requests/orderSuite.ts"
import { pathSuite } from "./requests/pathSuite.ts"
import { senderRefusalSuite } from "./requests/senderRefusalSuite.ts"
import { policySuite } from "./requests/policySuite.ts"
import { secretSuite } from "./requests/secretSuite.ts"
import { querySuite } from "./requests/querySuite.ts"
import { throttlingSuite } from "./requests/throttlingSuite.ts"
import { announcementSuite } from "./semantics/announcementSuite.ts"
import { acknowledgementSuite } from "./semantics/acknowledgementSuite.ts"
import { auditSuite } from "./semantics/auditSuite.ts"
import { admissionSuite } from "./semantics/admissionSuite.ts"
import { callSuite } from "./semantics/callSuite.ts"
import { lateSuite } from "./semantics/lateSuite.ts"
import { placesSuite } from "./semantics/placesSuite.ts"
import { linkSuite } from "./semantics/linkSuite.ts"
import { deliverySuite } from "./semantics/deliverySuite.ts"
import { eventSemanticsSuite } from "./semantics/eventSemanticsSuite.ts"
import { longStreamSuite, streamSuite } from "./semantics/streamSuite.ts"
import { publicPageSuite } from "./semantics/publicPageSuite.ts"
import { rotaSuite } from "./semantics/rotaSuite.ts"
import { summarySuite } from "./semantics/summarySuite.ts"
import { heldSuite } from "./semantics/heldSuite.ts"
import { reportSuite } from "./semantics/reportSuite.ts"
import { titleSuite } from "./semantics/titleSuite.ts"
import { walkSuite } from "./semantics/walkSuite.ts"

/** The number of actions of each client in the concurrency test. */
const ROUNDS = AT_LENGTH ? 12 : 6

type Suites = Readonly<Record<string, <Place>(subject: StorageUnderTest<Place>) => void>>

/** Of agents' requests: the front answers the usual ones, and the API those that it hands over. */
const agentSuites: Suites = {
  authentication: authenticationSuite,
  headers: headerSuite,
  "order of checks": orderSuite,
  "size of bodies": bodySizeSuite,
  "hostile bodies": hostileBodySuite,
  throttling: throttlingSuite,
  "fields of heartbeats": heartbeatFieldSuite,
  "fields of events": eventFieldSuite,
  admission: admissionSuite,
  events: eventSemanticsSuite,
  "failures of the storage": storageFailureSuite,
  "reports while the storage fails": senderFailureSuite,
  "refusals of senders' requests": senderRefusalSuite,
}

/**
 * A sample of them past the front: `packages/adapter-http/test/fastpath` proves that both answer alike.
 * These use the storage, which that test replaces.
 */
const sampled: Suites = { "reports while the storage fails": senderFailureSuite }

const suites: Suites = {
  operators: operatorSuite,
  integrations: integrationSuite,
  nagios: nagiosSuite,
  enrolments: enrolmentSuite,
  watches: watchSuite,
  idempotency: idempotencySuite,
  policy: policySuite,
  secrets: secretSuite,
  "hostile connections": hostileConnectionSuite,
  interruptions: interruptionSuite,
  "back-pressure": backPressureSuite,
  endpoints: endpointSuite,
  "errors of endpoints": endpointErrorSuite,
  paths: pathSuite,
  queries: querySuite,
  filters: filterSuite,
  cursors: cursorSuite,
  "forged cursors": forgedCursorSuite,
  paging: pagingSuite,
  reports: reportSuite,
  titles: titleSuite,
  late: lateSuite,
  "late in every place": placesSuite,
  walk: walkSuite,
  acknowledgements: acknowledgementSuite,
  holds: heldSuite,
  links: linkSuite,
  "public pages": publicPageSuite,
  calls: callSuite,
  rotas: rotaSuite,
  announcements: announcementSuite,
  audit: auditSuite,
  delivery: deliverySuite,
  stream: streamSuite,
  "long streams": longStreamSuite,
  summary: summarySuite,
  "slow clients": slowClientSuite,
  "many clients": (subject) => concurrencySuite(subject, ROUNDS),
  readiness: readinessSuite,
}

/**
 * The whole contract of the v1 API over a real socket, for the service on one storage, composed as the
 * server composes it. `universalRules` checks every answer of every test, and `Observatory` searches
 * everything that leaves the service for tokens.
 */
export const httpSuite = <Place>(subject: StorageUnderTest<Place>): void => {
  describe(`HTTP contract: ${subject.name}`, () => {
    run({ ...agentSuites, ...suites }, subject)
  })
  describe(`HTTP contract: ${subject.name}, past the front`, () => {
    run(AT_LENGTH ? agentSuites : sampled, { ...subject, throughApi: true })
  })
}

const run = <Place>(chosen: Suites, subject: HttpSubject<Place>): void => {
  for (const [name, suite] of Object.entries(chosen)) {
    describe(`${name}`, () => {
      suite(subject)
    })
  }
}
