import { assert, describe, expect, it } from "@effect/vitest"
import { Duration, Result } from "effect"
import * as Instant from "@tocsin/contract/formats/Instant"
import { compilePolicy } from "../../../src/heart/policy/compilePolicy.ts"
import { nextOccurrences, occurrenceInForce } from "../../../src/heart/policy/occurrences.ts"
import { readPolicy } from "../../../src/lists/readPolicy.ts"

const windowOf = (fields: object) => {
  const window = { name: "w", tz: "Europe/Berlin", match: ["check_id = disk"], ...fields }
  const [compiled] = compilePolicy(Result.getOrThrow(readPolicy({ windows: [window] }, [])), []).windows
  return compiled ?? expect.fail("there is no window")
}

const occurrences = (fields: object, now: string, count: number): ReadonlyArray<string> =>
  nextOccurrences(windowOf(fields), Instant.fromMillis(Date.parse(now)), count).map(
    ({ ends_at, starts_at }) => `${Instant.format(starts_at)} ${Instant.format(ends_at)}`,
  )

describe("the next occurrences of a window", () => {
  it("last for an elapsed time through both clock changes", () => {
    expect(occurrences({ cron: "30 1 * * *", for: "4h" }, "2026-03-28T12:00Z", 2)).toEqual([
      "2026-03-29T00:30:00.000Z 2026-03-29T04:30:00.000Z",
      "2026-03-29T23:30:00.000Z 2026-03-30T03:30:00.000Z",
    ])
    expect(occurrences({ cron: "30 2 * * *", for: "1h" }, "2026-10-24T12:00Z", 2)).toEqual([
      "2026-10-25T00:30:00.000Z 2026-10-25T01:30:00.000Z",
      "2026-10-26T01:30:00.000Z 2026-10-26T02:30:00.000Z",
    ])
  })

  it("begin with the one in force, up to its end", () => {
    const nightly = { cron: "0 22 * * *", for: "4h", tz: "UTC" }
    const [present, following] = [
      "2026-01-01T22:00:00.000Z 2026-01-02T02:00:00.000Z",
      "2026-01-02T22:00:00.000Z 2026-01-03T02:00:00.000Z",
    ]
    expect(occurrences(nightly, "2026-01-01T22:00:00Z", 1)).toEqual([present])
    expect(occurrences(nightly, "2026-01-02T01:59:59Z", 2)).toEqual([present, following])
    expect(occurrences(nightly, "2026-01-02T02:00:00Z", 1)).toEqual([following])
  })

  it("begin before a moment, if one is given", () => {
    const nightly = windowOf({ cron: "0 22 * * *", for: "4h", tz: "UTC" })
    const [now, second] = ["2026-01-01T12:00Z", "2026-01-02T22:00Z"].map((text) =>
      Instant.fromMillis(Date.parse(text)),
    )
    assert(now !== undefined && second !== undefined)
    const count = (before: Instant.Instant) => nextOccurrences(nightly, now, 9, before).length
    expect([count(second), count(Instant.plus(second, Duration.millis(1)))]).toEqual([1, 2])
  })

  it("are in force from their first moment on, also after the one before was asked for", () => {
    const nightly = windowOf({ cron: "0 22 * * *", for: "4h", tz: "UTC" })
    const isInForce = (text: string) =>
      occurrenceInForce(nightly, Instant.fromMillis(Date.parse(text))) !== undefined
    expect(isInForce("2026-01-02T01:59:59.999Z")).toBe(true)
    expect(isInForce("2026-01-02T02:00Z")).toBe(false)
    expect(isInForce("2026-01-02T22:00Z")).toBe(true)
  })

  it("overlap where they last longer than their interval", () => {
    expect(occurrences({ cron: "0 * * * *", for: "90m", tz: "UTC" }, "2026-01-01T10:15Z", 2)).toEqual([
      "2026-01-01T10:00:00.000Z 2026-01-01T11:30:00.000Z",
      "2026-01-01T11:00:00.000Z 2026-01-01T12:30:00.000Z",
    ])
  })
})
