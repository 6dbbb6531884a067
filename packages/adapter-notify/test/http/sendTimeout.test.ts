import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import { sendTimeout } from "../../src/http/HttpPost.ts"

describe("the send time-out", () => {
  it.each([
    [60_000, 15_000],
    [15_000, 15_000],
    [14_999, 9_999],
    [9_000, 6_000],
    [300, 200],
  ])("under a lease of %i ms is %i ms", (lease, timeout) => {
    assert.strictEqual(Math.floor(Duration.toMillis(sendTimeout(Duration.millis(lease)))), timeout)
  })
})
