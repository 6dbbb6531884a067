import { assert, describe, it } from "@effect/vitest"
import { fromMicros, parse } from "@tocsin/contract/formats/Instant"
import { ageText, jsonText, timeText, withoutMicros, withoutSecrets } from "@tocsin/server/output/texts"

describe("texts of the command line", () => {
  it.each([
    [0, "0s ago"],
    [59, "59s ago"],
    [60, "1m ago"],
    [7_199, "1h ago"],
    [200_000, "2d ago"],
    [-300, "in 5m"],
    [-299, "in 4m 59s"],
  ])("%i seconds are %s", (seconds, text) => {
    const now = fromMicros(1_800_000_000_000_000n)
    assert.strictEqual(ageText(fromMicros(now - BigInt(seconds) * 1_000_000n), now), text)
  })

  it("JSON has instants as the API has them, and nothing that a terminal acts on", () => {
    const at = parse("2026-01-31T08:30:00.25Z")
    assert.strictEqual(
      jsonText({ at, text: "\u009B31m\u007F\u001B a\u202Eb\u2028" }),
      '{"at":"2026-01-31T08:30:00.250Z","text":"\\u009b31m\\u007f\\u001b a\\u202eb\\u2028"}',
    )
  })

  it("addresses lose their user and password", () => {
    assert.strictEqual(
      withoutSecrets("to postgres://user:pass:word@host/db and http://a@b, not mail@host"),
      "to postgres://…@host/db and http://…@b, not mail@host",
    )
  })
})

describe("a time in a table", () => {
  it("has no microseconds", () => {
    const micros = fromMicros(1_769_848_200_916_111n)
    assert.strictEqual(timeText(micros), "2026-01-31T08:30:00.916Z")
    assert.strictEqual(timeText(null), "")
    assert.strictEqual(
      withoutMicros("until=2026-01-31T08:30:00.916111Z at=2026-01-31T08:30:00.916Z id=1.123456Z"),
      "until=2026-01-31T08:30:00.916Z at=2026-01-31T08:30:00.916Z id=1.123456Z",
    )
  })
})
