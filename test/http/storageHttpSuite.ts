import { describe } from "@effect/vitest"
import type { Effect } from "effect"
import type { HttpSubject } from "./onStorage.ts"
import { concurrencySuite } from "./connections/concurrencySuite.ts"
import { interruptionSuite } from "./connections/interruptionSuite.ts"
import { endpointSuite } from "./contract/endpointSuite.ts"
import { forgedCursorSuite } from "./lists/forgedCursorSuite.ts"
import { secretSuite } from "./failures/secretSuite.ts"
import { senderFailureSuite } from "./failures/senderFailureSuite.ts"
import { senderRefusalSuite } from "./requests/senderRefusalSuite.ts"
import { operatorSuite } from "./requests/operatorSuite.ts"
import { acknowledgementSuite } from "./semantics/acknowledgementSuite.ts"
import { heldSuite } from "./semantics/heldSuite.ts"
import { auditSuite } from "./semantics/auditSuite.ts"
import { callSuite } from "./semantics/callSuite.ts"
import { lateSuite } from "./semantics/lateSuite.ts"
import { placesSuite } from "./semantics/placesSuite.ts"
import { linkSuite } from "./semantics/linkSuite.ts"
import { replicaSuite } from "./semantics/replicaSuite.ts"
import { streamSuite } from "./semantics/streamSuite.ts"
import { reportSuite } from "./semantics/reportSuite.ts"
import { titleSuite } from "./semantics/titleSuite.ts"
import { walkSuite } from "./semantics/walkSuite.ts"
import { AT_LENGTH, unlessAtLength } from "../properties/atLength.ts"

/** The number of actions of each client in the concurrency test; on memory, twice as many. */
const ROUNDS = AT_LENGTH ? 6 : 3

/**
 * The part of the HTTP contract that depends on the storage: each endpoint, the walk, whose answers are
 * compared with those on memory, and concurrent clients. The rest is part of every run on memory, and
 * `test/storage` proves that storages are alike. `dump` returns all stored bytes as text.
 */
export const storageHttpSuite = <Place, E>(
  subject: HttpSubject<Place>,
  dump: Effect.Effect<string, E, Place>,
): void => {
  const isSQLite = subject.name === "SQLite"
  describe(`HTTP contract: ${subject.name}`, () => {
    endpointSuite(subject)
    replicaSuite(subject)
    secretSuite(subject, dump)
    // An ordinary run has each of the rest on one storage, always the same; a run at length has all on both.
    if (AT_LENGTH || isSQLite) {
      walkSuite(subject)
      titleSuite(subject)
      reportSuite(subject)
    }
    if (AT_LENGTH || !isSQLite) {
      lateSuite(subject)
      placesSuite(subject)
      interruptionSuite(subject)
      concurrencySuite(subject, ROUNDS)
    }
  })
  describe.skipIf(!AT_LENGTH)(`HTTP contract: ${subject.name}, at length${unlessAtLength}`, () => {
    operatorSuite(subject)
    auditSuite(subject)
    acknowledgementSuite(subject)
    heldSuite(subject)
    linkSuite(subject)
    callSuite(subject)
    forgedCursorSuite(subject)
    streamSuite(subject)
    senderRefusalSuite(subject)
    senderFailureSuite(subject)
    senderFailureSuite({ ...subject, throughApi: true })
  })
}
