import { assert, it } from "@effect/vitest"
import { localTimes, momentText } from "../../src/format/times.ts"

it("a sentence of the service has its times in the reader's zone, in either form", () => {
  const at = Date.UTC(2026, 0, 31, 8, 30)
  const shown = `disk has not reported since ${momentText(at, at)}`
  for (const time of ["2026-01-31T08:30:00Z", "2026-01-31T08:30:00.000Z", "2026-01-31 08:30:00 UTC"])
    assert.strictEqual(localTimes(`disk has not reported since ${time}`, at), shown)
})
