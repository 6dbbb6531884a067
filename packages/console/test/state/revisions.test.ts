import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { aim, changed, revisionOf } from "../../src/state/revisions.ts"

describe("changes that come while the pointer is over a list", () => {
  beforeEach(() => vi.useFakeTimers())
  afterEach(() => vi.useRealTimers())

  it("wait until it has rested for a second", () => {
    const before = revisionOf(["incidents"])
    const moved = () => revisionOf(["incidents"]) - before
    aim()
    changed(["incidents"])
    vi.advanceTimersByTime(900)
    aim()
    vi.advanceTimersByTime(900)
    assert.strictEqual(moved(), 0)
    vi.advanceTimersByTime(200)
    assert.strictEqual(moved(), 1)
    changed(["incidents"])
    vi.advanceTimersByTime(1)
    assert.strictEqual(moved(), 2)
  })
})
