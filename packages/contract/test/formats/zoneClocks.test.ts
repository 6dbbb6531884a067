import { assert, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { DateTime } from "effect"
import * as fc from "fast-check"
import { timeZoneOf } from "../../src/formats/zoneClocks.ts"

const names = Intl.supportedValuesOf("timeZone")

describe("a time zone", () => {
  it("has Effect's offset at any moment", () => {
    const moment = fc.integer({ min: Date.UTC(1900, 0), max: Date.UTC(2100, 0) })
    fc.assert(
      fc.property(fc.constantFrom(...names), moment, (name, millis) => {
        const zoned = DateTime.makeZonedUnsafe(millis, { timeZone: name })
        assert.strictEqual(timeZoneOf(name)?.offsetAt(millis), DateTime.zonedOffset(zoned))
      }),
      { numRuns: propertyRuns(500) },
    )
  })

  it("is kept once, whatever letter case names it", () => {
    assert.isDefined(timeZoneOf("Europe/Berlin"))
    assert.strictEqual(timeZoneOf("europe/BERLIN"), timeZoneOf("Europe/Berlin"))
  })

  it("has other names", () => {
    assert.strictEqual(timeZoneOf("US/Eastern")?.offsetAt(0), timeZoneOf("America/New_York")?.offsetAt(0))
  })
})
