import cluster, { Worker } from "node:cluster"
import { EventEmitter } from "node:events"
import process from "node:process"
import { checkedSettings } from "@tocsin/server/settings/checkedSettings"
import { superviseWorkers } from "@tocsin/server/workers/superviseWorkers"
import { Result } from "effect"
import { afterEach, assert, beforeEach, describe, it, vi } from "vitest"

/** A worker as `cluster.fork` returns it. */
const workerOf = (pid: number | undefined): Worker => {
  const worker = Object.create(Worker.prototype) as Worker
  EventEmitter.call(worker)
  return Object.assign(worker, { process: { pid } })
}

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"]

describe("the supervisor of workers", () => {
  const written: Array<unknown> = []
  const codes: Array<unknown> = []
  beforeEach(() => {
    vi.useFakeTimers()
    vi.spyOn(process.stderr, "write").mockImplementation((text) => written.push(text) > 0)
    vi.spyOn(process, "exit").mockImplementation((code) => void codes.push(code) as never)
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
    for (const signal of SIGNALS) process.removeAllListeners(signal)
    for (const list of [written, codes]) list.splice(0)
  })

  const supervising = (fork: () => Worker): void => {
    vi.spyOn(cluster, "fork").mockImplementation(fork)
    superviseWorkers(Result.getOrThrow(checkedSettings({})), 2)
  }
  const forking = (pid: number | undefined): Worker => {
    const worker = workerOf(pid)
    supervising(() => worker)
    return worker
  }

  it("counts a worker as ended for which the system starts no process", () => {
    forking(undefined).emit("error", new Error("spawn node EAGAIN"))
    assert.deepStrictEqual([written, codes], [["spawn node EAGAIN\n"], [1]])
  })

  it("counts a worker as ended whose process the system refuses at once", () => {
    supervising(() => {
      throw new Error("spawn ENOMEM")
    })
    vi.advanceTimersByTime(0)
    assert.deepStrictEqual([written, codes], [["spawn ENOMEM\n"], [1]])
  })

  it("outlives a message to a worker that has just ended", () => {
    forking(1).emit("error", new Error("write EPIPE"))
    assert.deepStrictEqual(codes, [])
  })
})
