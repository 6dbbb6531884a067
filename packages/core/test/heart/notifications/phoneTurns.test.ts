import { assert, it } from "@effect/vitest"
import { mayHaveRung } from "../../../src/heart/notifications/phoneTurns.ts"
import type { AttemptResult } from "../../../src/heart/notifications/recordResults.ts"

it("a phone may have rung unless its service refused the call, or answered that it is to come later", () => {
  const rung: ReadonlyArray<readonly [AttemptResult, boolean]> = [
    [{ outcome: "delivered" }, true],
    [{ outcome: "deferred", error: "no answer" }, true],
    [{ outcome: "deferred", error: "429", isAnswered: true }, false],
    [{ outcome: "refused", error: "401" }, false],
  ]
  assert.deepStrictEqual(
    rung.map(([result]) => mayHaveRung(result)),
    rung.map(([, expected]) => expected),
  )
})
