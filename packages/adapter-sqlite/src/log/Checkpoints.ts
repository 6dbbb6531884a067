import type { CheckpointReply, CheckpointStep } from "./checkpointLoop.ts"
import type { CheckpointWorker } from "./CheckpointWorker.ts"

interface CheckpointsOptions {
  readonly worker: Pick<CheckpointWorker, "run" | "close">
  /** From how many pages in use on the log is moved into the file and begun anew. */
  readonly checkpointPages: number
  /** Called when a checkpoint has ended, at its end or before it. */
  readonly onEnd: () => void
}

/** How long to wait after a checkpoint that did not come to its end. */
const RETRY_MILLIS = 1_000

const WITH_VERIFICATION: ReadonlyArray<CheckpointStep> = ["verify", "move", "begin_anew"]
const STEPS: ReadonlyArray<CheckpointStep> = ["move", "begin_anew"]

/**
 * Keeps the log short: when much of it is in use, a worker moves it into the file while writing goes on; then, in a pause
 * of the writer that is as long as a few syncs, the log begins anew.
 */
export class Checkpoints {
  readonly #options: CheckpointsOptions
  #isRunning = false
  #isHeld = false
  #retry: NodeJS.Timeout | undefined
  #failure: string | undefined
  #onRestored: (() => void) | undefined
  #onIdle: (() => void) | undefined

  constructor(options: CheckpointsOptions) {
    this.#options = options
  }

  /** Whether the writer has to wait, because the log is being begun anew. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  /** Why the last checkpoint did not come to its end, if it did not. */
  get failure(): string | undefined {
    return this.#failure
  }

  /** Tells how many pages of the log are in use now. */
  consider(pages: number): void {
    if (pages >= this.#options.checkpointPages && !this.#isRunning && this.#retry === undefined) {
      this.#run(STEPS)
    }
  }

  /** Brings all that the log holds into the file and onto the disk, however often that fails, and calls `done`. */
  restore(done: () => void): void {
    this.#onRestored = done
    if (!this.#isRunning) this.#run(WITH_VERIFICATION)
  }

  /** Ends the worker after what it is doing, and calls `done`. */
  close(done: () => void): void {
    clearTimeout(this.#retry)
    this.#onRestored = undefined
    this.#onIdle = () => this.#options.worker.close(done)
    if (!this.#isRunning) this.#onIdle()
  }

  #run(steps: ReadonlyArray<CheckpointStep>): void {
    clearTimeout(this.#retry)
    this.#retry = undefined
    this.#isRunning = true
    const [step, ...rest] = steps
    if (step === undefined) return
    this.#isHeld = step === "begin_anew"
    this.#options.worker.run(step, (reply) => {
      if (rest.length > 0 && !("failure" in reply)) this.#run(rest)
      else this.#end(reply)
    })
  }

  #end(reply: CheckpointReply): void {
    this.#isRunning = false
    this.#isHeld = false
    this.#failure = this.#failureOf(reply)
    if (this.#onIdle !== undefined) this.#onIdle()
    else if (this.#failure !== undefined) this.#scheduleRetry()
    else {
      this.#onRestored?.()
      this.#onRestored = undefined
    }
    this.#options.onEnd()
  }

  #failureOf(reply: CheckpointReply): string | undefined {
    if ("failure" in reply) return reply.failure
    return reply.pages < this.#options.checkpointPages ? undefined : "another process goes on reading from it"
  }

  #scheduleRetry(): void {
    this.#retry = setTimeout(
      () => this.#run(this.#onRestored === undefined ? STEPS : WITH_VERIFICATION),
      RETRY_MILLIS,
    )
    this.#retry.unref()
  }
}
