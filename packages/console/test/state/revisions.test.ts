import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"

describe("changes that come while the pointer is over a list", () => {
  beforeEach(() => {
    // Other tests of this process may have read something, which makes changes wait.
    vi.resetModules()
    vi.useFakeTimers()
  })
  afterEach(() => vi.useRealTimers())

  it("wait until it has rested for a second", async () => {
    const { aim, changed, revisionOf } = await import("../../src/state/revisions.ts")
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
