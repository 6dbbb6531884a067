import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import * as Instant from "../../src/formats/Instant.ts"
import * as arbitraries from "../v1/arbitraries.ts"

describe("Instant", () => {
  it("format and parse are inverse over the years 0001 to 9999", () => {
    fc.assert(
      fc.property(arbitraries.instant, (instant) => {
        assert.strictEqual(Instant.parse(Instant.format(instant)), instant)
      }),
      { numRuns: 2_000 },
    )
  })

  it("agrees with Date wherever Date can tell, both ways", () => {
    fc.assert(
      fc.property(
        fc.date({
          min: new Date("0001-01-01T00:00:00Z"),
          max: new Date("9999-12-31T23:59:59.999Z"),
          noInvalidDate: true,
        }),
        (date) => {
          const instant = Instant.fromMillis(date.getTime())
          assert.strictEqual(Instant.format(instant), date.toISOString())
          assert.strictEqual(Instant.parse(date.toISOString()), instant)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it("agrees with Date on the first and last day of every month, and on which days exist", () => {
    for (let year = 1; year <= 9999; year += year < 1890 || year > 2110 ? 13 : 1) {
      for (let month = 1; month <= 12; month++) {
        for (const day of [1, 28, 29, 30, 31]) {
          const text = `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}-${day === 1 ? "01" : day}T00:00:00Z`
          const millis = Date.parse(text)
          // Date rolls the 30th of February over into March.
          const exists = new Date(millis).getUTCDate() === day
          assert.strictEqual(Instant.parse(text), exists ? Instant.fromMillis(millis) : undefined, text)
        }
      }
    }
  })

  it("refuses texts one character away from RFC 3339", () => {
    const RFC_3339 = /^(\d{4})-(\d{2}-\d{2})[Tt]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|\+00:00)$/
    const isDate = (text: string) => {
      const date = text.slice(0, 10)
      return (
        date >= "0001" && !Number.isNaN(Date.parse(date)) && new Date(date).toISOString().startsWith(date)
      )
    }
    const texts = fc.constantFrom(
      "2026-01-28T08:30:00Z",
      "2024-02-29T23:59:59.123456+00:00",
      "0001-12-31t00:00:00.5z",
    )
    const characters = fc.constantFrom(..."0123456789-+:.TtZz ,/;@G\u0660", "", "00", ".0")
    let valid = 0
    fc.assert(
      fc.property(texts, fc.nat(32), fc.boolean(), characters, (text, at, isInserted, character) => {
        const changed = text.slice(0, at) + character + text.slice(isInserted ? at : at + 1)
        const expected = RFC_3339.test(changed) && isDate(changed)
        assert.strictEqual(Instant.parse(changed) !== undefined, expected, changed)
        if (expected) valid++
      }),
      { numRuns: 5_000 },
    )
    assert.isAbove(valid, 100)
  })

  it("knows the ends of its range", () => {
    assert.strictEqual(
      Instant.format(Instant.fromMicros(-62_135_596_800_000_000n)),
      "0001-01-01T00:00:00.000Z",
    )
    assert.strictEqual(
      Instant.format(Instant.fromMicros(253_402_300_799_999_999n)),
      "9999-12-31T23:59:59.999999Z",
    )
  })

  it("cuts digits beyond the microsecond, before 1970 too", () => {
    fc.assert(
      fc.property(arbitraries.instant, fc.stringMatching(/^[0-9]{1,30}$/), (instant, more) => {
        const micros = ((instant % 1_000_000n) + 1_000_000n) % 1_000_000n
        const whole = Instant.format(Instant.fromMicros(instant - micros)).replace(".000Z", "")
        const text = `${whole}.${String(micros).padStart(6, "0")}${more}Z`
        assert.strictEqual(Instant.parse(text), instant, text)
      }),
    )
    assert.strictEqual(
      Instant.parse("2026-01-31T08:30:00.999999999Z"),
      Instant.parse("2026-01-31T08:30:00.999999Z"),
    )
  })

  it("prints three digits, or six when the last three are not zero", () => {
    const of = (text: string) => {
      const instant = Instant.parse(text)
      return instant === undefined ? undefined : Instant.format(instant)
    }
    assert.strictEqual(of("2026-01-31T08:30:00Z"), "2026-01-31T08:30:00.000Z")
    assert.strictEqual(of("2026-01-31T08:30:00.1Z"), "2026-01-31T08:30:00.100Z")
    assert.strictEqual(of("2026-01-31T08:30:00.123Z"), "2026-01-31T08:30:00.123Z")
    assert.strictEqual(of("2026-01-31T08:30:00.1234Z"), "2026-01-31T08:30:00.123400Z")
    assert.strictEqual(of("2026-01-31T08:30:00.000001Z"), "2026-01-31T08:30:00.000001Z")
    assert.strictEqual(of("1969-12-31T23:59:59.999999Z"), "1969-12-31T23:59:59.999999Z")
  })

  it.each([
    "2026-01-31T08:30:00Z",
    "2026-01-31t08:30:00z",
    "2026-01-31T08:30:00+00:00",
    "2026-01-31T08:30:00.000000+00:00",
  ])("accepts %s as the same moment", (text) => {
    assert.strictEqual(Instant.parse(text), Instant.fromMillis(Date.UTC(2026, 0, 31, 8, 30)))
  })

  it.each(["2024-02-29T00:00:00Z", "2000-02-29T00:00:00Z", "0004-02-29T00:00:00Z", "0001-01-01T00:00:00Z"])(
    "accepts the date %s",
    (text) => {
      assert.isDefined(Instant.parse(text))
    },
  )

  it.each([
    ["a negative zero offset", "2026-01-31T08:30:00-00:00"],
    ["another offset", "2026-01-31T08:30:00+01:00"],
    ["another offset, of minutes", "2026-01-31T08:30:00+00:30"],
    ["an offset without a colon", "2026-01-31T08:30:00+0000"],
    ["no offset", "2026-01-31T08:30:00"],
    ["a leap second", "2016-12-31T23:59:60Z"],
    ["hour 24", "2026-01-31T24:00:00Z"],
    ["minute 60", "2026-01-31T08:60:00Z"],
    ["29 February of a common year", "2023-02-29T00:00:00Z"],
    ["29 February of 1900", "1900-02-29T00:00:00Z"],
    ["31 April", "2026-04-31T00:00:00Z"],
    ["month 0", "2026-00-10T00:00:00Z"],
    ["month 13", "2026-13-10T00:00:00Z"],
    ["day 0", "2026-01-00T00:00:00Z"],
    ["year 0000", "0000-12-31T00:00:00Z"],
    ["year 10000", "10000-01-01T00:00:00Z"],
    ["a signed year", "+002026-01-31T08:30:00Z"],
    ["a space for T", "2026-01-31 08:30:00Z"],
    ["no seconds", "2026-01-31T08:30Z"],
    ["an empty fraction", "2026-01-31T08:30:00.Z"],
    ["a comma fraction", "2026-01-31T08:30:00,5Z"],
    ["a date alone", "2026-01-31"],
    ["blanks around", " 2026-01-31T08:30:00Z"],
    ["a line end after", "2026-01-31T08:30:00Z\n"],
    ["other digits", "２０２６-01-31T08:30:00Z"],
    ["nothing", ""],
  ])("refuses %s", (_, text) => {
    assert.isUndefined(Instant.parse(text))
  })

  it("on the wire is a string, both ways", () => {
    const decode = Schema.decodeUnknownSync(Instant.InstantFromString)
    const encode = Schema.encodeSync(Instant.InstantFromString)
    assert.strictEqual(encode(decode("2026-01-31T08:30:00+00:00")), "2026-01-31T08:30:00.000Z")
    assert.throws(() => decode(1_769_848_200_000))
    assert.throws(() => decode("2026-02-30T00:00:00Z"))
  })

  it.effect("reads the test clock, and moves by durations", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(1_769_848_200_000)
      const now = yield* Instant.now
      assert.strictEqual(Instant.format(now), "2026-01-31T08:30:00.000Z")
      assert.strictEqual(Instant.format(Instant.plus(now, Duration.seconds(90))), "2026-01-31T08:31:30.000Z")
      assert.strictEqual(Instant.format(Instant.minus(now, Duration.days(1))), "2026-01-30T08:30:00.000Z")
      assert.strictEqual(Instant.max(now, Instant.minus(now, Duration.millis(1))), now)
    }),
  )
})
