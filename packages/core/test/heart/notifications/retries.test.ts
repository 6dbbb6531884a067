import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Duration } from "effect"
import { LONGEST_RETRY, mayRetry, retryDelay } from "../../../src/heart/notifications/recordResults.ts"

const seconds = (...given: Parameters<typeof retryDelay>): number => Duration.toSeconds(retryDelay(...given))

/** docs/rules.md#delivery. */
const SCHEDULE = [5, 30, 120, 300, 900, 1_800, 3_600, 7_200, 14_400, 14_400]

describe("the delay before the next attempt", () => {
  it("is that of the schedule, a fifth less or more", () => {
    for (const [n, planned] of SCHEDULE.entries()) {
      assert.strictEqual(seconds(n + 1, 0.5), planned)
      assert.closeTo(seconds(n + 1, 0), planned * 0.8, 1e-6)
      assert.closeTo(seconds(n + 1, 1), planned * 1.2, 1e-6)
    }
    assert.closeTo(Duration.toSeconds(LONGEST_RETRY), 14_400 * 1.2, 1e-6)
  })

  it.each([
    ["a later moment that the receiver asks for", 1, 60, 60],
    ["its own where the receiver asks for an earlier one", 3, 7, 120],
    ["an hour where the receiver asks for more", 1, 7_200, 3_600],
    ["its own where that is beyond the hour of a receiver", 9, 7_200, 14_400],
  ])("is %s", (_, attempts, asked, expected) => {
    assert.strictEqual(seconds(attempts, 0.5, asked), expected)
  })
})

it("there are at most 14 attempts", () => {
  const age_starts_at = Instant.fromMillis(0)
  const may = (attempts: number) => mayRetry({ attempts, age_starts_at }, age_starts_at)
  assert.deepStrictEqual([may(13), may(14), may(15)], [true, false, false])
})
