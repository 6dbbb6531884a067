import { assert, describe, it } from "@effect/vitest"
import { parseRetryAfter } from "../../src/http/retryAfter.ts"
import { at } from "../notifications.ts"

const now = at("2026-01-31T08:30:00.000001Z")

describe("Retry-After", () => {
  it.each([
    ["0", 0],
    ["120", 120],
    [" 7 ", 7],
    ["999999999999999999999999", Number.MAX_SAFE_INTEGER],
    // Rounded up: not a moment too early.
    ["Sat, 31 Jan 2026 08:30:30 GMT", 30],
    ["Sat, 31 Jan 2026 09:30:00 GMT", 3_600],
    ["Saturday, 31-Jan-26 08:31:00 GMT", 60],
    ["Sat Jan 31 08:31:00 2026", 60],
    ["Sun Feb  1 08:30:00 2026", 86_400],
    ["Wed, 31 Dec 2025 23:59:59 GMT", 0],
    ["Sun, 06 Nov 1994 08:49:37 GMT", 0],
  ])("%j asks to wait %i s", (header, seconds) => {
    assert.strictEqual(parseRetryAfter(header, now), seconds)
  })

  it.each([
    undefined,
    "",
    "-1",
    "1.5",
    "1e3",
    "soon",
    "2026-01-31T08:31:00Z",
    "Sat, 31 Feb 2026 08:31:00 GMT",
    "Sat, 31 Jan 2026 25:00:00 GMT",
    "Sat, 31 Jan 2026 08:31:00 CET",
    "31 Jan 2026 08:31:00 GMT",
  ])("%j asks nothing", (header) => {
    assert.isUndefined(parseRetryAfter(header, now))
  })
})
