import type { CheckpointReply, CheckpointStep } from "./checkpointThread.ts"
import type { CheckpointWorker } from "./CheckpointWorker.ts"
import type { LogHealth } from "./LogTransitions.ts"

interface CheckpointsOptions {
  readonly worker: Pick<CheckpointWorker, "run" | "close">
  readonly health: LogHealth
  /** The number of pages in use at which the log is moved into the file and starts over. */
  readonly checkpointPages: number
  /** Called when a checkpoint has ended, complete or not. */
  readonly onEnd: () => void
}

const CHECKPOINT: ReadonlyArray<CheckpointStep> = ["move", "start_over"]

/** The wait after an incomplete checkpoint. */
const RETRY_MILLIS = 1_000

const failureOf = (reply: CheckpointReply): string | undefined => {
  if ("failure" in reply) return reply.failure
  return reply.hasStartedOver ? undefined : "another process goes on reading from it"
}

/**
 * Keeps the log short. When much of it is in use, a worker moves it into the file while the writer
 * continues; then the writer pauses for a few syncs, and the log starts over. A failed sync ends
 * that for good.
 */
export class Checkpoints {
  readonly #options: CheckpointsOptions
  readonly #health: LogHealth
  #isRunning = false
  #isHeld = false
  #retry: NodeJS.Timeout | undefined
  #failure: string | undefined
  #onIdle: (() => void) | undefined

  constructor(options: CheckpointsOptions) {
    this.#options = options
    this.#health = options.health
  }

  /** Whether the writer has to wait because the log is starting over. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  /** Why the last checkpoint is incomplete. */
  get failure(): string | undefined {
    return this.#failure
  }

  /** Starts a checkpoint if so many pages are in use that one is due. */
  consider(pages: number): void {
    if (pages >= this.#options.checkpointPages && this.#retry === undefined) this.#begin()
  }

  /** Ends the worker after the checkpoint under way, and calls `done`. */
  close(done: () => void): void {
    clearTimeout(this.#retry)
    this.#onIdle = () => this.#options.worker.close(done)
    if (!this.#isRunning) this.#onIdle()
  }

  #begin(): void {
    this.#retry = undefined
    if (!this.#isRunning && !this.#health.isFailed) this.#run(CHECKPOINT)
  }

  #run([step, ...rest]: ReadonlyArray<CheckpointStep>): void {
    if (step === undefined) return
    this.#isRunning = true
    this.#isHeld = step === "start_over"
    this.#options.worker.run(step, (reply) => {
      // A sync that failed meanwhile ends the checkpoint: the log may not be what was written.
      if (!("failure" in reply) && rest.length > 0 && !this.#health.isFailed) this.#run(rest)
      else this.#end(reply)
    })
  }

  #end(reply: CheckpointReply): void {
    this.#isRunning = false
    this.#isHeld = false
    this.#failure = failureOf(reply)
    if (this.#onIdle !== undefined) this.#onIdle()
    else if (this.#failure !== undefined) this.#scheduleRetry()
    this.#options.onEnd()
  }

  #scheduleRetry(): void {
    this.#retry = setTimeout(() => this.#begin(), RETRY_MILLIS)
    this.#retry.unref()
  }
}
