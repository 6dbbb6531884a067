import { assert, describe, it } from "@effect/vitest"
import { firstAt, wallAt, wallOf } from "./WallClock.ts"

const ZONES = ["UTC", "Europe/Berlin", "America/Santiago", "Australia/Lord_Howe"]
const [HOUR, DAY] = [3_600, 86_400]
const secondsOf = (time: string): number => Date.parse(time) / 1_000

describe("the clocks of stories", () => {
  it("show what the zones' rules say in each night of their year", () => {
    for (const tz of ZONES) {
      const format = new Intl.DateTimeFormat("sv-SE", {
        timeZone: tz,
        dateStyle: "short",
        timeStyle: "medium",
      })
      const [start, end] = [secondsOf("2031-01-01T00:00Z"), secondsOf("2032-01-01T00:00Z")]
      for (let at = start; at < end; at += 6.5 * HOUR)
        assert.strictEqual(wallAt(tz, at), wallOf(format.format(at * 1_000).replace(" ", "T")), `${tz} ${at}`)
    }
  })

  it("place a time that comes twice or never", () => {
    const place = (tz: string, wall: string) =>
      new Date(firstAt(tz, wallOf(wall)) * 1_000).toISOString().slice(0, 16)
    assert.strictEqual(place("Europe/Berlin", "2031-03-30T02:30"), "2031-03-30T01:00")
    assert.strictEqual(place("Europe/Berlin", "2031-10-26T02:30"), "2031-10-26T00:30")
    assert.strictEqual(place("Australia/Lord_Howe", "2031-10-05T02:15"), "2031-10-04T15:30")
    assert.strictEqual(place("America/Santiago", "2031-09-07T00:30"), "2031-09-07T04:00")
    for (const tz of ZONES)
      for (let wall = wallOf("2031-01-01T04:00"); wall < wallOf("2031-12-31T00:00"); wall += DAY)
        assert.strictEqual(wallAt(tz, firstAt(tz, wall)), wall)
  })
})
