import { assert, describe, it } from "@effect/vitest"
import { propertyRuns } from "@tocsin/testing/propertyRuns"
import { Cron, Result } from "effect"
import * as fc from "fast-check"
import { parseCron } from "../../src/formats/CronTimes.ts"

const piece = fc.constantFrom(
  "*",
  "/",
  "-",
  ",",
  "0",
  "1",
  "07",
  "5",
  "12",
  "31",
  "59",
  "60",
  "mon",
  "FEB",
  "x",
)
const field = fc.oneof(
  fc.constantFrom("*", "*/1", "*/7", "1-5", "5/2", "3,*", "*,3", "sun", "jan-mar", "5-1", "7", "0/7", "*/0"),
  fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join("")),
)
const expression = fc.array(field, { minLength: 4, maxLength: 6 }).map((fields) => fields.join(" "))

const sorted = (values: ReadonlySet<number>) => [...values].toSorted((a, b) => a - b)

const MOST = [59, 23, 31, 12, 7]
const NAMES: Readonly<Record<string, string>> = { "*": "0 0 1 1 0" }

/** A step beyond its field leaves the first value, as in Debian's cron 3.0pl1; Effect refuses it. */
const withoutLongSteps = (cron: string): string =>
  cron
    .split(" ")
    .map((field, n) =>
      field
        .split(",")
        .map((part) => {
          const [range = "", step, ...rest] = part.split("/")
          const isLong = rest.length === 0 && /^\d+$/.test(step ?? "") && Number(step) > (MOST[n] ?? 0)
          const [first = ""] = range.split("-")
          return isLong ? (NAMES[first]?.split(" ")[n] ?? range.replace(/^([^-]+)-.*$/, "$1")) : part
        })
        .join(","),
    )
    .join(" ")

describe("a cron expression", () => {
  it.each([
    ["*/60 * * * *", [0], []],
    ["*/90 */24 * * *", [0], [0]],
    ["*/100,1-7 * * * *", [0, 1, 2, 3, 4, 5, 6, 7], []],
  ] as const)(
    "has of a step beyond its field the first value, as Debian's cron: %s",
    (cron, minutes, hours) => {
      const times = parseCron(cron)
      if ("message" in times) return assert.fail(times.message)
      assert.deepStrictEqual([sorted(times.minutes), sorted(times.hours)], [minutes, hours])
    },
  )

  it("names the values that Effect's Cron reads, and is refused where that refuses it", () => {
    let read = 0
    fc.assert(
      fc.property(expression, (cron) => {
        const own = parseCron(cron)
        const its = Cron.parse(withoutLongSteps(cron))
        // Six fields begin with seconds there.
        if (Result.isFailure(its) || cron.split(" ").length !== 5) return void assert.property(own, "message")
        if ("message" in own) return void assert.strictEqual(own.message, "never fires: no date matches it")
        read += 1
        for (const name of ["minutes", "hours", "days", "months", "weekdays"] as const)
          assert.deepStrictEqual(sorted(own[name]), sorted(its.success[name]), `${name} of ${cron}`)
      }),
      { numRuns: propertyRuns(5_000) },
    )
    assert.isAbove(read, 0)
  })

  it.each([
    ["0 3 * *", "must have five fields: minute, hour, day, month, weekday"],
    ["@daily", "must have five fields: write 0 0 * * * for @daily"],
    [" @Weekly ", "must have five fields: write 0 0 * * 0 for @Weekly, or 0 0 * * 1 where systemd means it"],
    ["@reboot", "must have five fields: minute, hour, day, month, weekday"],
    ["61 * * * *", 'is not a cron expression: "61" is not a value from 0 to 59'],
    ["0 3 * * funday", 'is not a cron expression: "funday" is not a value from 0 to 7'],
    ["*/0 * * * *", "is not a cron expression: /0 is not a step of 1 or more"],
    ["0 0 L-3 * *", 'is not a cron expression: "L" is not a value from 1 to 31'],
    ["0 5-3 * * *", "is not a cron expression: 5-3 ends before it begins"],
    ["0 0 30 2 *", "never fires: no date matches it"],
  ])("says of %j that it %s", (cron, problem) =>
    assert.deepStrictEqual(parseCron(cron), { message: problem }),
  )
})
