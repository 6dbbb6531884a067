import { assert, describe, it } from "@effect/vitest"
import { afterEach, beforeEach, vi } from "vitest"
import { Checkpoints } from "../../src/log/Checkpoints.ts"

describe("a checkpoint that failed", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  const failing = () => {
    const asked: Array<string> = []
    const worker = {
      run: (step: string, reply: (reply: { failure: string }) => void) => {
        asked.push(step)
        reply({ failure: "another process reads" })
      },
      close: (done: () => void) => {
        asked.push("close")
        done()
      },
    }
    return { asked, checkpoints: new Checkpoints({ worker, checkpointPages: 10, onEnd: () => {} }) }
  }

  it("is tried again", () => {
    const { asked, checkpoints } = failing()
    checkpoints.consider(10)
    vi.advanceTimersByTime(2_500)
    assert.deepStrictEqual(asked, ["move", "move", "move"])
  })

  it("is not tried again once the log is closed, which happens once", () => {
    const { asked, checkpoints } = failing()
    checkpoints.consider(10)
    let closed = 0
    checkpoints.close(() => void closed++)
    vi.advanceTimersByTime(10_000)
    assert.deepStrictEqual(asked, ["move", "close"])
    assert.strictEqual(closed, 1)
  })
})
