import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { outboxRecord } from "@tocsin/testing/records"
import { holdEnded } from "../../../src/heart/firings/steps.ts"
import type { HoldName, StoredHold } from "../../../src/heart/model/StoredHold.ts"

const minute = (count: number) => Instant.fromMillis(1_769_848_200_000 + count * 60_000)
const NOW = minute(30)

const hold = (by: HoldName, until?: number, more: Partial<StoredHold> = {}): StoredHold => ({
  by,
  ...(until !== undefined && { until: Number(minute(until)) }),
  ...more,
})

/** The minute at which steps begin again, of a firing under these holds; some still hold its receiver. */
const ended = (holds: ReadonlyArray<StoredHold>, ...inForce: ReadonlyArray<HoldName>) => {
  const item = outboxRecord("a", "i", { holds, next_attempt_at: undefined, next_evaluation_at: NOW })
  const at = holdEnded(
    item,
    inForce.map((by) => ({ by })),
    NOW,
  )
  return at && Number((at - minute(0)) / 60_000_000n)
}

describe("the end of a hold (docs/rules.md#steps)", () => {
  it("begins steps again for each kind that hides an incident, and for no other", () => {
    const kinds = ["silence:s", "window:w", "parent:p", "outage", "quiet", "ack", "after"] as const
    assert.deepStrictEqual(
      kinds.map((by) => ended([hold(by, 10)])),
      [10, 10, 10, 10, undefined, undefined, undefined],
    )
  })

  it("is that of the last one, and now where a change ended it", () => {
    assert.strictEqual(ended([hold("silence:a", 10), hold("silence:b", 20)]), 20)
    assert.strictEqual(ended([hold("silence:a")]), 30)
    assert.strictEqual(ended([hold("silence:a", 45)]), 30)
  })

  it("does not count while the hold is in force", () => {
    assert.strictEqual(ended([hold("silence:a", 45)], "silence:a"), undefined)
    assert.strictEqual(ended([hold("silence:a", 45), hold("window:b", 10)], "silence:a"), 10)
  })

  it("counts only where something was due under it", () => {
    for (const by of ["not_owed", "notifications_off"] as const) {
      assert.strictEqual(ended([hold("silence:a", 10), hold(by)]), undefined)
      assert.strictEqual(ended([hold("silence:a", 10, { wasDue: true }), hold(by)]), 10)
    }
    assert.strictEqual(ended([hold("silence:a", 10), hold("after", 10)]), undefined)
    assert.strictEqual(ended([hold("silence:a", 10), hold("after", 9)]), 10)
  })
})
