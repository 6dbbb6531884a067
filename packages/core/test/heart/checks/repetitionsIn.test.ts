import { assert, describe, it } from "@effect/vitest"
import type { EventId } from "@tocsin/contract/formats/Identifiers"
import type { CheckResult } from "@tocsin/core/heart/checks/applyEvent"
import { repetitionsIn } from "@tocsin/core/heart/checks/repetitionsIn"
import * as fc from "fast-check"

/** Few IDs, so that batches repeat some; a result of the service has none. */
const id = fc.constantFrom("a", "b", "c", "d", undefined)

const eventOf = (event_id: string | undefined) => ({ event_id }) as CheckResult

describe("repetitionsIn", () => {
  it("finds the IDs that were there before, in any order", () => {
    fc.assert(
      fc.property(fc.array(id, { maxLength: 12 }), (ids) => {
        const isRepeated = repetitionsIn(ids.map(eventOf))
        for (const [index, one] of ids.entries())
          if (one !== undefined) assert.strictEqual(isRepeated(one as EventId), ids.indexOf(one) < index)
      }),
    )
  })
})
