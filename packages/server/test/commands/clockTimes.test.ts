import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { readTime } from "../../src/commands/clockTimes.ts"
import { timeText } from "../../src/output/texts.ts"

const at = (text: string) => Instant.parse(text) ?? assert.fail(text)

const BERLIN = "Europe/Berlin"

describe("times as people write them", () => {
  it.effect.each([
    ["2026-11-29T10:00:00Z", "18:00", BERLIN, "2026-11-29T17:00:00.000Z"],
    ["2026-11-29T18:00:00Z", "18:00", BERLIN, "2026-11-30T17:00:00.000Z"],
    ["2026-11-29T17:00:00Z", "18:00", BERLIN, "2026-11-30T17:00:00.000Z"],
    ["2026-11-29T23:30:00Z", "tomorrow 8:00", BERLIN, "2026-12-01T07:00:00.000Z"],
    ["2026-11-29T22:30:00Z", "tomorrow 08:00", BERLIN, "2026-11-30T07:00:00.000Z"],
    ["2026-11-29T10:00:00Z", "2026-11-30T08:00", BERLIN, "2026-11-30T07:00:00.000Z"],
    ["2026-11-29T10:00:00Z", "2026-11-30T08:00:00Z", BERLIN, "2026-11-30T08:00:00.000Z"],
    // A time that the clock leaves out is the end of the gap, a repeated one the first.
    ["2026-03-28T12:00:00Z", "2026-03-29T02:30", BERLIN, "2026-03-29T01:00:00.000Z"],
    ["2026-10-24T12:00:00Z", "2026-10-25T02:30", BERLIN, "2026-10-25T00:30:00.000Z"],
    ["2026-11-29T10:00:00Z", "18:00", "UTC", "2026-11-29T18:00:00.000Z"],
  ] as const)("at %s, %s in %s", ([now, given, tz, expected]) =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Instant.toMillis(at(now)))
      assert.strictEqual(Instant.format(yield* readTime("to", given, { tz })), expected)
    }),
  )

  it.effect("are the next ones after another one", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Instant.toMillis(at("2026-11-29T10:00:00Z")))
      const after = at("2026-12-05T12:00:00Z")
      const found = yield* readTime("to", "8:00", { after, tz: BERLIN })
      assert.strictEqual(Instant.format(found), "2026-12-06T07:00:00.000Z")
    }),
  )

  it.effect.each(["8", "24:00", "18:60", "yesterday 8:00", "2026-02-30T08:00", "soon"])(
    "refuse %s",
    (given) =>
      Effect.gen(function* () {
        const failure = yield* Effect.flip(readTime("to", given, { tz: BERLIN, more: ", or 8h" }))
        assert.strictEqual(failure.exit, "usage")
        assert.match(failure.message, /^--to must be a time such as 18:00, .*, or 8h$/u)
      }),
  )

  it("are printed by a clock, and in UTC as the API has them", () => {
    const moment = at("2026-01-31T08:30:00Z")
    assert.strictEqual(timeText(moment, BERLIN), "2026-01-31 09:30:00 CET")
    for (const tz of ["UTC", "Etc/UTC"]) assert.strictEqual(timeText(moment, tz), "2026-01-31T08:30:00.000Z")
    assert.strictEqual(timeText(null), "")
  })
})
