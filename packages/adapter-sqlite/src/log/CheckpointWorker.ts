import { Worker } from "node:worker_threads"
import { checkpointLoop, type CheckpointOrder, type CheckpointReply } from "./checkpointLoop.ts"
import { openCheckpoint } from "./openCheckpoint.ts"
import { noteSpoiled } from "./spoiledNote.ts"
import { verifyLog } from "./verifyLog.ts"

const PARTS = `{ openCheckpoint: ${openCheckpoint.toString()},
  verifyLog: ${verifyLog.toString()},
  noteSpoiled: ${noteSpoiled.toString()} }`

// What a checkpoint needs lies outside of the heap.
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2, codeRangeSizeMb: 8 }

interface CheckpointWorkerOptions {
  readonly file: string
  /** What a long log is cut to when it begins anew. */
  readonly keptBytes: number
}

/** A thread that does the steps of checkpoints, one at a time. It starts with the first step. */
export class CheckpointWorker {
  readonly #options: CheckpointWorkerOptions
  #worker: Worker | undefined
  #reply: ((reply: CheckpointReply) => void) | undefined

  constructor(options: CheckpointWorkerOptions) {
    this.#options = options
  }

  /** Does a step and calls `reply` with what became of it. No other step may be under way. */
  run(order: CheckpointOrder, reply: (reply: CheckpointReply) => void): void {
    this.#reply = reply
    this.#worker ??= this.#start()
    this.#worker.ref()
    this.#worker.postMessage(order)
  }

  /** Ends the thread and calls `done` when its connections are closed. No step may be under way. */
  close(done: () => void): void {
    if (this.#worker === undefined) return done()
    this.#worker.ref()
    this.#worker.once("exit", done)
    this.#worker.postMessage("close")
  }

  #start(): Worker {
    const worker = new Worker(`(${checkpointLoop.toString()})(${PARTS})`, {
      eval: true,
      workerData: this.#options,
      resourceLimits: RESOURCE_LIMITS,
      // The main thread has printed it.
      execArgv: ["--disable-warning=ExperimentalWarning"],
    })
    worker.on("message", (reply: CheckpointReply) => {
      // Between its steps it keeps no process from ending.
      worker.unref()
      this.#answer(reply)
    })
    worker.on("error", (cause) => this.#answer({ failure: String(cause), isSpoiled: false }))
    worker.on("exit", () => {
      // The next step starts another one.
      if (this.#worker === worker) this.#worker = undefined
      this.#answer({ failure: "the checkpoint thread has ended", isSpoiled: false })
    })
    return worker
  }

  #answer(reply: CheckpointReply): void {
    const waiting = this.#reply
    this.#reply = undefined
    waiting?.(reply)
  }
}
