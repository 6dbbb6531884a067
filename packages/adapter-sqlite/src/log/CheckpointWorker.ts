import { Worker } from "node:worker_threads"
import {
  type CheckpointStep,
  type CheckpointReply,
  checkpointThread,
  openCheckpoint,
} from "./checkpointThread.ts"

// A checkpoint needs memory outside of the heap only.
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2, codeRangeSizeMb: 8 }

interface CheckpointWorkerOptions {
  readonly file: string
  /** The length to which a long log is cut when it starts over. */
  readonly keptBytes: number
}

/** A thread that runs the steps of checkpoints, one at a time. It starts with the first step. */
export class CheckpointWorker {
  readonly #options: CheckpointWorkerOptions
  #worker: Worker | undefined
  #reply: ((reply: CheckpointReply) => void) | undefined

  constructor(options: CheckpointWorkerOptions) {
    this.#options = options
  }

  /** Runs a step and calls `reply` with its outcome. No other step may be running. */
  run(step: CheckpointStep, reply: (reply: CheckpointReply) => void): void {
    this.#reply = reply
    this.#worker ??= this.#start()
    this.#worker.ref()
    this.#worker.postMessage(step)
  }

  /** Ends the thread and calls `done` when its connections are closed. No step may be running. */
  close(done: () => void): void {
    if (this.#worker === undefined) return done()
    this.#worker.ref()
    this.#worker.once("exit", done)
    this.#worker.postMessage("close")
  }

  #start(): Worker {
    const worker = new Worker(`(${checkpointThread.toString()})(${openCheckpoint.toString()})`, {
      eval: true,
      workerData: this.#options,
      resourceLimits: RESOURCE_LIMITS,
      // The main thread has printed the warning.
      execArgv: ["--disable-warning=ExperimentalWarning"],
    })
    worker.on("message", (reply: CheckpointReply) => {
      // An idle thread must not keep the process from ending.
      worker.unref()
      this.#answer(reply)
    })
    worker.on("error", (cause) => this.#answer({ failure: String(cause) }))
    worker.on("exit", () => {
      // The next step starts another thread.
      if (this.#worker === worker) this.#worker = undefined
      this.#answer({ failure: "the checkpoint thread has ended" })
    })
    return worker
  }

  #answer(reply: CheckpointReply): void {
    const waiting = this.#reply
    this.#reply = undefined
    waiting?.(reply)
  }
}
