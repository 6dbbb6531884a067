import { assert, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Cron, Result } from "effect"
import * as fc from "fast-check"
import { type CronTimes, parseCron } from "@tocsin/contract/formats/CronTimes"
import { wallAfter, wallBefore } from "@tocsin/contract/formats/cronWalls"

const timesOf = (cron: string): CronTimes => {
  const times = parseCron(cron)
  if ("message" in times) throw new Error(times.message)
  return times
}
const iso = (wall: number): string => new Date(wall).toISOString()

const field = (min: number, max: number) => {
  const value = fc.integer({ min, max })
  const range = fc.tuple(value, value).map(([a, b]) => `${Math.min(a, b)}-${Math.max(a, b)}`)
  const step = fc.tuple(fc.constantFrom("*", `${min}-${max}`), fc.integer({ min: 1, max }))
  const some = fc.array(value, { minLength: 1, maxLength: 3 }).map((values) => values.join(","))
  return fc.oneof(
    fc.constant("*"),
    some,
    range,
    step.map(([of, by]) => `${of}/${by}`),
  )
}
const expression = fc
  .tuple(field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7))
  .map((fields) => fields.join(" "))
const moment = fc.integer({ min: Date.UTC(1960, 0), max: Date.UTC(2060, 0) })

describe("the times of a cron expression", () => {
  it("are those of Effect's Cron in UTC, looking ahead and looking back", () => {
    fc.assert(
      fc.property(expression, moment, (cron, wall) => {
        const times = parseCron(cron)
        const its = Cron.parseUnsafe(cron, "UTC")
        // Effect gives up where it has stepped through too many days.
        const found = Result.try(() => [Cron.prev(its, wall), Cron.next(its, wall)].map(Number))
        if ("message" in times || Result.isFailure(found)) return fc.pre(false)
        const own = [wallBefore(times, wall), wallAfter(times, wall)]
        assert.deepStrictEqual(own.map(iso), found.success.map(iso))
      }),
      { numRuns: propertyRuns(500) },
    )
  })

  it.each([
    ["29 February on a Sunday, as 2100 is no leap year", "0 0 29 2 */7", "2088-02-29", "2128-02-29"],
    ["a day that few months have", "0 0 31 4,12 *", "2026-12-31", "2027-12-31"],
    ["the last day of a month", "0 0 L * *", "2028-01-31", "2028-02-29"],
    ["the last day of February", "0 0 l 2 *", "2027-02-28", "2028-02-29"],
    ["the last day or a weekday", "0 0 L * 5", "2026-02-27", "2026-02-28"],
    ["a day or a weekday", "0 0 13 * 5", "2026-02-13", "2026-02-20"],
    ["a day and a weekday", "0 0 13 * */5", "2026-02-13", "2026-03-13"],
  ])("%s: %j leads from %s to %s and back", (_, cron, from, to) => {
    assert.strictEqual(iso(wallAfter(timesOf(cron), Date.parse(from))), iso(Date.parse(to)))
    assert.strictEqual(iso(wallBefore(timesOf(cron), Date.parse(to))), iso(Date.parse(from)))
  })
})
