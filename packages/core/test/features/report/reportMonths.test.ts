import { assert, describe, it } from "@effect/vitest"
import * as Instant from "@tocsin/contract/formats/Instant"
import { monthsAround } from "../../../src/features/report/monthlyDecisions.ts"

const at = (text: string) => Instant.parse(text) ?? assert.fail(text)

const shown = (tz: string, now: string) => {
  const { last, next } = monthsAround(tz, at(now))
  const text = ({ due_at, from, month, to }: typeof last) =>
    [month, due_at, from, to].map((part) => (typeof part === "bigint" ? Instant.format(part) : part))
  return [text(last), text(next)]
}

const texts = (...moments: ReadonlyArray<string>) => moments.map((moment) => Instant.format(at(moment)))

describe("the month of a report", () => {
  it("is due on the first at 8:00 by the clock of the reader, whose month it is", () => {
    assert.deepStrictEqual(shown("Asia/Tokyo", "2026-11-30T22:59:59Z"), [
      ["2026-10", ...texts("2026-10-31T23:00:00Z", "2026-09-30T15:00:00Z", "2026-10-31T15:00:00Z")],
      ["2026-11", ...texts("2026-11-30T23:00:00Z", "2026-10-31T15:00:00Z", "2026-11-30T15:00:00Z")],
    ])
    assert.strictEqual(shown("Asia/Tokyo", "2026-11-30T23:00:00Z")[0]?.[0], "2026-11")
    assert.strictEqual(shown("UTC", "2026-01-01T08:00:00Z")[0]?.[0], "2025-12")
  })

  it("is an hour shorter or longer where clocks are set", () => {
    assert.deepStrictEqual(shown("Europe/Berlin", "2026-04-02T00:00:00Z"), [
      ["2026-03", ...texts("2026-04-01T06:00:00Z", "2026-02-28T23:00:00Z", "2026-03-31T22:00:00Z")],
      ["2026-04", ...texts("2026-05-01T06:00:00Z", "2026-03-31T22:00:00Z", "2026-04-30T22:00:00Z")],
    ])
    assert.deepStrictEqual(shown("Europe/Berlin", "2026-11-01T06:59:59Z")[1], [
      "2026-10",
      ...texts("2026-11-01T07:00:00Z", "2026-09-30T22:00:00Z", "2026-10-31T23:00:00Z"),
    ])
  })
})
