// The part of the suite about storages that are opened again, on storages that lose state. It runs in a
// vitest of its own, because the tests of broken storages must fail.
import { reopenSuite } from "@tocsin/testing/model/reopenSuite"
import { afterEach, beforeEach, describe } from "@effect/vitest"
import * as fc from "fast-check"
import { BROKEN, GOOD } from "./BrokenStores.ts"

// The first counterexample is enough: nothing looks for a smaller one.
fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true })

for (const subject of [...GOOD, ...BROKEN]) {
  describe(`on ${subject.name}`, () => {
    // One failed test proves it: those after it would cost half as much again.
    let hasFailed = false
    beforeEach(({ skip }) => skip(hasFailed))
    afterEach(({ task }) => {
      hasFailed ||= task.result?.state === "fail"
    })
    reopenSuite(subject)
  })
}
