import { assert, describe, it } from "@effect/vitest"
import * as Instant from "../../src/formats/Instant.ts"
import { zonedText } from "../../src/formats/zonedText.ts"

const at = (text: string) => Instant.parse(text) ?? assert.fail(text)

describe("a time by the clock of a zone", () => {
  it.each([
    ["2026-01-31T08:30:00Z", undefined, "2026-01-31 08:30:00 UTC"],
    ["2026-01-31T08:30:00Z", "Europe/Berlin", "2026-01-31 09:30:00 CET"],
    ["2026-07-31T08:30:00.250Z", "Europe/Berlin", "2026-07-31 10:30:00 CEST"],
    ["2026-07-31T08:30:00Z", "Europe/London", "2026-07-31 09:30:00 BST"],
    ["2026-01-31T08:30:00Z", "Europe/London", "2026-01-31 08:30:00 GMT"],
    ["2026-01-31T03:30:00Z", "America/New_York", "2026-01-30 22:30:00 EST"],
    ["2026-01-31T08:30:00Z", "Asia/Kolkata", "2026-01-31 14:00:00 UTC+5:30"],
    ["2026-01-31T08:30:00Z", "America/Sao_Paulo", "2026-01-31 05:30:00 UTC-3"],
    ["2026-01-31T08:30:00Z", "Nowhere/Land", "2026-01-31 08:30:00 UTC"],
  ])("%s in %s", (text, tz, shown) => {
    assert.strictEqual(zonedText(at(text), tz), shown)
  })

  it("has no seconds where nobody reads them", () => {
    assert.strictEqual(
      zonedText(at("2026-11-09T08:00:59Z"), "Europe/Berlin", "minute"),
      "2026-11-09 09:00 CET",
    )
  })

  it("tells the two hours apart that a clock shows twice", () => {
    const shown = ["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"].map((text) =>
      zonedText(at(text), "Europe/Berlin", "minute"),
    )
    assert.deepStrictEqual(shown, ["2026-10-25 02:30 CEST", "2026-10-25 02:30 CET"])
  })
})
