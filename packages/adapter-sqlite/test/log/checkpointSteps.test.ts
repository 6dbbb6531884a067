import { assert, describe, it } from "@effect/vitest"
import { afterEach, beforeEach, vi } from "vitest"
import { type CheckpointOrder, type CheckpointReply, Checkpoints } from "../../src/log/Checkpoints.ts"
import { LogHealth } from "../../src/log/LogTransitions.ts"

const DONE: CheckpointReply = { pages: 10, moved: 10, hasStartedOver: false }
const STARTED_OVER: CheckpointReply = { pages: 1, moved: 0, hasStartedOver: true }
const FAILED: CheckpointReply = { failure: "another process reads" }

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
    knownEnd: () => undefined,
    onEnd: () => {},
  })
  const failSync = () => {
    health.apply("sync_started")
    health.apply("sync_failed")
  }
  return { asked, checkpoints, failSync, reply: (reply: CheckpointReply) => waiting?.(reply) }
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
    for (const answer of [DONE, STARTED_OVER]) reply(answer)
    const before = asked.length
    checkpoints.consider(10)
    assert.deepStrictEqual(asked.slice(before), ["move"], "the next one does not wait")
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

  it("does not begin once the log is closed, as the answer to the last commit may ask for", () => {
    const { asked, checkpoints, reply } = checkpointsByHand()
    let closed = 0
    checkpoints.close(() => void closed++)
    checkpoints.consider(10)
    reply(FAILED)
    assert.deepStrictEqual(asked, ["close"])
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

  it.each([
    { step: "move", replies: [DONE] },
    { step: "start_over", replies: [DONE, STARTED_OVER] },
  ])("under way when a sync fails ends after its step, and never comes again: $step", ({ replies, step }) => {
    const { asked, checkpoints, failSync, reply } = checkpointsByHand()
    checkpoints.consider(10)
    for (const done of replies.slice(0, -1)) reply(done)
    failSync()
    for (const done of replies.slice(-1)) reply(done)
    checkpoints.consider(1_000)
    vi.advanceTimersByTime(60_000)
    assert.strictEqual(asked.at(-1), step)
    assert.lengthOf(asked, replies.length)
  })
})
