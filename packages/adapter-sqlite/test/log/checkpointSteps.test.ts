import { assert, describe, it } from "@effect/vitest"
import { afterEach, beforeEach, vi } from "vitest"
import type { CheckpointOrder, CheckpointReply } from "../../src/log/checkpointThread.ts"
import { Checkpoints } from "../../src/log/Checkpoints.ts"
import { LogHealth } from "../../src/log/LogTransitions.ts"
import { LOG_START } from "../../src/log/LogFile.ts"

const DONE: CheckpointReply = { pages: 10, moved: 10, hasStartedOver: false }
const STARTED_OVER: CheckpointReply = { pages: 1, moved: 0, hasStartedOver: true }
const FAILED: CheckpointReply = { failure: "another process reads", isSpoiled: false }
const SPOILED: CheckpointReply = { failure: "not what was written", isSpoiled: true }

/** Checkpoints whose worker answers when a test says so. */
const checkpointsByHand = () => {
  const asked: Array<string> = []
  let waiting: ((reply: CheckpointReply) => void) | undefined
  const worker = {
    run: ({ step }: CheckpointOrder, reply: (reply: CheckpointReply) => void) => {
      asked.push(step)
      waiting = reply
    },
    close: (done: () => void) => {
      asked.push("close")
      done()
    },
  }
  const health = new LogHealth()
  health.apply("opened")
  const checkpoints = new Checkpoints({
    worker,
    health,
    checkpointPages: 10,
    acknowledged: () => LOG_START,
    onEnd: () => {},
  })
  const failSync = () => {
    health.apply("sync_started")
    health.apply("sync_failed")
    checkpoints.restore()
  }
  return { asked, checkpoints, health, failSync, reply: (reply: CheckpointReply) => waiting?.(reply) }
}

describe("a checkpoint", () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it("that failed is tried again after a second, however much is written meanwhile", () => {
    const { asked, checkpoints, reply } = checkpointsByHand()
    checkpoints.consider(10)
    for (let seconds = 0; seconds < 2; seconds++) {
      const before = asked.length
      reply(FAILED)
      checkpoints.consider(20)
      vi.advanceTimersByTime(999)
      assert.lengthOf(asked, before)
      vi.advanceTimersByTime(1)
    }
    assert.deepStrictEqual(asked, ["move", "move", "move"])
  })

  it("is not tried again once the log is closed, which happens once", () => {
    const { asked, checkpoints, reply } = checkpointsByHand()
    checkpoints.consider(10)
    reply(FAILED)
    let closed = 0
    checkpoints.close(() => void closed++)
    vi.advanceTimersByTime(10_000)
    assert.deepStrictEqual(asked, ["move", "close"])
    assert.strictEqual(closed, 1)
  })

  it("under way when the log is closed comes to its end first", () => {
    const { asked, checkpoints, reply } = checkpointsByHand()
    checkpoints.consider(10)
    let closed = 0
    checkpoints.close(() => void closed++)
    for (const done of [DONE, STARTED_OVER]) {
      assert.strictEqual(closed, 0)
      reply(done)
    }
    assert.deepStrictEqual(asked, ["move", "start_over", "close"])
    assert.strictEqual(closed, 1)
  })

  it("under way when a sync fails ends after its step, and the log is verified before anything is moved", () => {
    const { asked, checkpoints, health, failSync, reply } = checkpointsByHand()
    checkpoints.consider(10)
    failSync()
    reply(DONE)
    assert.deepStrictEqual(asked, ["move", "verify"])
    for (const done of [DONE, DONE, STARTED_OVER]) reply(done)
    assert.deepStrictEqual(asked, ["move", "verify", "move", "start_over"])
    assert.strictEqual(health.state, "restored")
  })

  it("that begins the log anew when a sync fails does not count as its verification", () => {
    const { asked, checkpoints, health, failSync, reply } = checkpointsByHand()
    checkpoints.consider(10)
    reply(DONE)
    failSync()
    reply(STARTED_OVER)
    assert.deepStrictEqual(asked, ["move", "start_over", "verify"])
    assert.strictEqual(health.state, "verifying")
  })

  it("after a failed sync restores the log only when that has started over", () => {
    const { asked, failSync, health, reply } = checkpointsByHand()
    failSync()
    for (const done of [DONE, DONE, DONE]) reply(done)
    assert.strictEqual(health.state, "failed")
    vi.advanceTimersByTime(1_000)
    for (const done of [DONE, DONE, STARTED_OVER]) reply(done)
    assert.strictEqual(health.state, "restored")
    assert.deepStrictEqual(asked, ["verify", "move", "start_over", "verify", "move", "start_over"])
  })

  it("never comes again once the log is spoiled", () => {
    const { asked, checkpoints, failSync, health, reply } = checkpointsByHand()
    failSync()
    reply(SPOILED)
    checkpoints.consider(1_000)
    vi.advanceTimersByTime(60_000)
    assert.strictEqual(health.state, "poisoned")
    assert.deepStrictEqual(asked, ["verify"])
  })
})
